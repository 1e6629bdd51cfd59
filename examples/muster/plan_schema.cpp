// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

namespace cli {

const char* const plan_schema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://muster.dev/schemas/v1alpha1/plan.json",
  "title": "Plan",
  "description": "What one scheduling cycle decides. Objects are listed in the order in which they were decided; keys always stand in the order given here.",
  "type": "object",
  "additionalProperties": false,
  "required": ["apiVersion", "kind", "now", "groups", "summary"],
  "properties": {
    "apiVersion": {"const": "muster.dev/v1alpha1"},
    "kind": {"const": "Plan"},
    "now": {"$ref": "#/$defs/time"},
    "groups": {"type": "array", "items": {"$ref": "#/$defs/group"}},
    "summary": {
      "type": "object",
      "additionalProperties": false,
      "required": ["groups", "admitted", "nominated", "evicted", "waiting", "never", "undecided", "podsPlaced", "podsNominated", "podsEvicted", "podsPending", "nodes", "searchSteps", "resources"],
      "properties": {
        "groups": {"$ref": "#/$defs/count"},
        "admitted": {"$ref": "#/$defs/count"},
        "nominated": {"$ref": "#/$defs/count"},
        "evicted": {"$ref": "#/$defs/count"},
        "waiting": {"$ref": "#/$defs/count"},
        "never": {"$ref": "#/$defs/count"},
        "undecided": {"$ref": "#/$defs/count"},
        "podsPlaced": {"$ref": "#/$defs/count"},
        "podsNominated": {"description": "Members that are placed once others have left.", "$ref": "#/$defs/count"},
        "podsMoved": {"description": "Those of them who are told to move.", "$ref": "#/$defs/count"},
        "podsEvicted": {"$ref": "#/$defs/count"},
        "podsPending": {"description": "Members that could be placed and are not, those that are nominated among them.", "$ref": "#/$defs/count"},
        "nodes": {"$ref": "#/$defs/count"},
        "searchSteps": {"$ref": "#/$defs/count"},
        "resources": {
          "description": "By kind: what all nodes have, and what all pods that hold one request once the plan is carried out. Those to evict still hold theirs, those that are nominated do not yet.",
          "type": "object",
          "additionalProperties": {
            "type": "object",
            "additionalProperties": false,
            "required": ["allocatable", "requested"],
            "properties": {
              "allocatable": {"$ref": "#/$defs/quantity"},
              "requested": {"$ref": "#/$defs/quantity"}
            }
          }
        }
      }
    }
  },
  "$defs": {
    "count": {"type": "integer", "minimum": 0},
    "time": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?Z$"},
    "quantity": {"description": "A Kubernetes quantity.", "type": "string", "pattern": "^-?[0-9]+([numkMGTPE]|[KMGTPE]i|e-?[0-9]+)?$"},
    "role": {"description": "The name of a role; null for the group as a whole, and for pods of no role.", "type": ["string", "null"], "minLength": 1},
    "group": {
      "type": "object",
      "additionalProperties": false,
      "required": ["namespace", "name", "origin", "queue", "priority", "answer", "gate", "holding", "placements", "reasons"],
      "properties": {
        "namespace": {"type": "string", "minLength": 1},
        "name": {"type": "string", "minLength": 1},
        "origin": {"description": "A T9k PodGroup (or pods that name one), gang labels on pods, a pod of its own, another gang API's object, or a job.", "enum": ["podGroup", "labels", "pod", "coscheduling", "volcano", "kai", "workload", "grove", "job"]},
        "queue": {"type": ["string", "null"]},
        "priority": {"type": "integer"},
        "answer": {"description": "Nominated: it is placed for when others have left. Evicted: so many of its members are to go that it is left below its minima.", "enum": ["admitted", "nominated", "evicted", "waiting", "never", "undecided"]},
        "gate": {"description": "Where a group that does not start was stopped.", "enum": ["group", "members", "queue", "unsupported", "quota", "space", "order", null]},
        "couldStart": {"description": "Of a waiting group: whether a placement in the emptied cluster is known.", "enum": ["shown", "unknown"]},
        "holding": {"description": "Members that held a node before, or have succeeded.", "$ref": "#/$defs/count"},
        "placements": {"description": "Members that start now and nominated members, in the order in which they were placed.", "type": "array", "items": {"$ref": "#/$defs/placement"}},
        "evictions": {"description": "Of a group with nominated members: pods to evict first, as NAMESPACE/NAME.", "type": "array", "items": {"type": "string", "minLength": 1}},
        "moves": {
          "description": "Those of them who move: the node where whoever comes for the pod is to stand.",
          "type": "array",
          "minItems": 1,
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["pod", "node"],
            "properties": {
              "pod": {"type": "string", "minLength": 1},
              "node": {"type": "string", "minLength": 1}
            }
          }
        },
        "evicted": {
          "description": "Its own members that are to go, and for which group, as NAMESPACE/NAME; of those who move, where to.",
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["pod", "for"],
            "properties": {
              "pod": {"type": "string", "minLength": 1},
              "for": {"type": "string", "minLength": 1},
              "movesTo": {"type": "string", "minLength": 1}
            }
          }
        },
        "reasons": {"type": "array", "items": {"$ref": "#/$defs/reason"}},
        "shortAfterEvictions": {
          "description": "Why no eviction helps: of the resource, or without one in pods, what is needed, and what is left with all gone that may be evicted.",
          "type": "object",
          "additionalProperties": false,
          "required": ["needed", "left"],
          "properties": {
            "resource": {"type": "string", "minLength": 1},
            "needed": {"type": ["string", "integer"]},
            "left": {"type": ["string", "integer"]}
          }
        },
        "reservation": {
          "description": "Room that nobody else may take: what the proofs and answers of others count as used.",
          "type": "object",
          "additionalProperties": false,
          "required": ["nodes"],
          "properties": {
            "start": {"description": "When the group is planned to start, if that is known.", "$ref": "#/$defs/time"},
            "nodes": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["node", "amounts"],
                "properties": {
                  "node": {"type": "string", "minLength": 1},
                  "amounts": {"type": "object", "additionalProperties": {"$ref": "#/$defs/quantity"}}
                }
              }
            },
            "quota": {"description": "Of its queue's quota.", "type": "object", "additionalProperties": {"$ref": "#/$defs/quantity"}}
          }
        },
        "position": {
          "description": "Of a group that waits: its place among those of its queue, and among all.",
          "type": "object",
          "additionalProperties": false,
          "required": ["queue", "overall"],
          "properties": {
            "queue": {"type": "integer", "minimum": 1},
            "overall": {"type": "integer", "minimum": 1}
          }
        },
        "expectedStart": {"description": "When it starts if nothing happens but that pods end when they declare to; only of `muster explain`.", "$ref": "#/$defs/time"},
        "wouldStartIf": {"description": "The smallest changes found that would start it, each on its own enough, and each tried out; only of `muster explain`.", "type": "array", "items": {"$ref": "#/$defs/remedy"}},
        "wouldStartIfComplete": {"description": "False when the tries ended first: there may be others.", "type": "boolean"},
        "certificate": {"$ref": "#/$defs/certificate"},
        "status": {"$ref": "#/$defs/status"}
      }
    },
    "placement": {
      "type": "object",
      "additionalProperties": false,
      "required": ["pod", "role", "node"],
      "properties": {
        "pod": {"type": "string", "minLength": 1},
        "role": {"$ref": "#/$defs/role"},
        "node": {"type": "string", "minLength": 1},
        "nominated": {"description": "It starts once the pods have left that are to be evicted, and others on their way out. Absent = it starts now.", "const": true}
      }
    },
    "reason": {
      "type": "object",
      "additionalProperties": false,
      "required": ["code", "kind", "roles", "message"],
      "properties": {
        "code": {"enum": ["GroupMissing", "GroupMalformed", "MembersDisagree", "NotEnoughMembers", "QueueUnknown", "QueueClosed", "QueueForbidden", "UnsupportedConstraint", "VolumeNotReady", "InsufficientResource", "QuotaExceeded", "NodeSelectorMismatch", "UntoleratedTaint", "NodeUnschedulable", "TopologyFragmented", "HostPortTaken", "VolumeOutOfReach", "VolumeInUse", "SpreadUneven", "AffinityUnmet", "AntiAffinityMet", "KeptOffByOthers", "RoomReserved", "BehindInQueue", "SearchBudgetSpent", "FitsByNow"]},
        "kind": {"enum": ["blocking", "blockingTogether", "contributing"]},
        "notMinimal": {"description": "Some of those that block together may not be needed: the search ended first.", "const": true},
        "queue": {"description": "The queue that it is about: the group's own, or one above.", "type": "string", "minLength": 1},
        "resource": {"type": "string", "minLength": 1},
        "needed": {"description": "The least that the group must get.", "$ref": "#/$defs/quantity"},
        "left": {"description": "What there is of it in all.", "$ref": "#/$defs/quantity"},
        "roles": {
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["role", "needed", "possible"],
            "properties": {
              "role": {"$ref": "#/$defs/role"},
              "needed": {"description": "How many more members must be placed, beside those that hold; of NotEnoughMembers the minimum.", "$ref": "#/$defs/count"},
              "possible": {"description": "Members that there is room for, taken alone, as far as this reason goes; of NotEnoughMembers those that exist, of UnsupportedConstraint those that wait and are modelled.", "$ref": "#/$defs/count"}
            }
          }
        },
        "keptFor": {"description": "Of RoomReserved: the groups for which room is kept, as NAMESPACE/NAME.", "type": "array", "items": {"type": "string", "minLength": 1}},
        "message": {"description": "For people; may change.", "type": "string", "minLength": 1}
      }
    },
    "remedy": {
      "type": "object",
      "additionalProperties": false,
      "required": ["changes", "whatif"],
      "properties": {
        "changes": {"description": "To be made together.", "type": "array", "items": {"$ref": "#/$defs/change"}},
        "whatif": {"description": "The same as options of `muster whatif`.", "type": "array", "items": {"type": "string", "minLength": 1}}
      }
    },
    "change": {
      "type": "object",
      "additionalProperties": false,
      "required": ["kind"],
      "properties": {
        "kind": {"enum": ["FreePods", "AddNodes", "UncordonNodes", "RaiseQuota", "RaiseDeserved", "OpenQueue", "TolerateTaint", "DropNodeSelector", "DropNodeAffinity", "DropPodAffinity", "DropPodAntiAffinity", "DropTopologySpread", "DropTopology", "BindClaims", "LowerMinimum"]},
        "pods": {
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["namespace", "name", "group", "node"],
            "properties": {
              "namespace": {"type": "string", "minLength": 1},
              "name": {"type": "string", "minLength": 1},
              "group": {"type": "string", "minLength": 1},
              "node": {"type": "string", "minLength": 1}
            }
          }
        },
        "claims": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "like": {"description": "The node that the new ones are like.", "type": "string", "minLength": 1},
        "count": {"type": "integer", "minimum": 1},
        "nodes": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "queue": {"type": "string", "minLength": 1},
        "resource": {"type": "string", "minLength": 1},
        "taint": {"description": "KEY=VALUE:EFFECT, or KEY:EFFECT.", "type": "string", "minLength": 1},
        "label": {"type": "string", "minLength": 1},
        "level": {"description": "The node label whose domains are meant.", "type": "string", "minLength": 1},
        "role": {"$ref": "#/$defs/role"},
        "from": {"type": ["string", "integer"]},
        "to": {"type": ["string", "integer"]}
      }
    },
    "certificate": {
      "description": "A proof that the group does not fit.",
      "type": "object",
      "additionalProperties": false,
      "required": ["scope", "classes", "proof"],
      "properties": {
        "scope": {"enum": ["freeNow", "emptied"]},
        "classes": {
          "description": "Members that wait and are alike, numbered from 0.",
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["role", "pods"],
            "properties": {
              "role": {"$ref": "#/$defs/role"},
              "pods": {"type": "array", "items": {"type": "string", "minLength": 1}}
            }
          }
        },
        "caps": {
          "description": "What required terms between pods come to on every node by itself, as far as the proof needs it.",
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["class", "rule"],
            "properties": {
              "class": {"$ref": "#/$defs/count"},
              "rule": {"description": "keptOff: none of the class where a label is absent that its terms go by, or where anti-affinity with pods that stand forbids it. apart: by this term of the class's anti-affinity, no two of it and the other class on one node. spread: by this spread term, on no node more than its skew and the fewest together, less those who stand in its domain.", "enum": ["keptOff", "apart", "spread"]},
              "term": {"description": "Of the class's required anti-affinity, or its spread, from 0.", "type": "integer", "minimum": 0},
              "other": {"description": "The other class, or the same.", "type": "integer", "minimum": 0},
              "fewest": {"description": "The most that the emptiest domain can come to have.", "type": "integer", "minimum": 0}
            }
          }
        },
        "proof": {"$ref": "#/$defs/proof"}
      }
    },
    "proof": {
      "oneOf": [
        {
          "type": "object",
          "additionalProperties": false,
          "required": ["weights", "prices"],
          "properties": {
            "weights": {"description": "One per class.", "type": "array", "items": {"$ref": "#/$defs/count"}},
            "prices": {"description": "Per kind of the queue's quota: for a thousandth of cpu, for a unit of all else.", "type": "object", "additionalProperties": {"$ref": "#/$defs/count"}}
          }
        },
        {
          "description": "Either at most so many of the class stand on the node, or more.",
          "type": "object",
          "additionalProperties": false,
          "required": ["class", "node", "atMost", "low", "high"],
          "properties": {
            "class": {"$ref": "#/$defs/count"},
            "node": {"type": "string", "minLength": 1},
            "atMost": {"$ref": "#/$defs/count"},
            "low": {"$ref": "#/$defs/proof"},
            "high": {"$ref": "#/$defs/proof"}
          }
        },
        {
          "description": "The members at or below one vertex must stand in one domain of the level: a proof for each domain in which they may.",
          "type": "object",
          "additionalProperties": false,
          "required": ["together", "level", "domains"],
          "properties": {
            "together": {"description": "The name of the role or subgroup; null for the group as a whole.", "type": ["string", "null"], "minLength": 1},
            "level": {"description": "The node label whose domains are meant.", "type": "string", "minLength": 1},
            "domains": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["domain", "proof"],
                "properties": {
                  "domain": {"description": "The values of the labels from the coarsest level to this one; null when there is no domain, so that nobody is placed.", "type": ["array", "null"], "items": {"type": "string"}},
                  "proof": {"$ref": "#/$defs/proof"}
                }
              }
            }
          }
        }
      ]
    },
    "status": {
      "description": "The status of the PodGroup once the plan is carried out.",
      "type": "object",
      "additionalProperties": false,
      "required": ["conditions"],
      "properties": {
        "allocated": {"type": "object", "additionalProperties": {"$ref": "#/$defs/quantity"}},
        "conditions": {
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["lastTransitionTime", "reason", "status", "transitionID", "type"],
            "properties": {
              "lastTransitionTime": {"$ref": "#/$defs/time"},
              "message": {"type": "string", "minLength": 1},
              "reason": {"enum": ["SufficientMemberPods", "InsufficientMemberPod", "PodGroupScheduled", "GroupNotScheduled"]},
              "status": {"enum": ["True", "False"]},
              "transitionID": {"type": "string", "minLength": 1},
              "type": {"enum": ["SufficientGroupMember", "GroupScheduled"]}
            }
          }
        },
        "pending": {"type": "integer", "minimum": 1},
        "running": {"type": "integer", "minimum": 1},
        "succeeded": {"type": "integer", "minimum": 1},
        "failed": {"type": "integer", "minimum": 1},
        "unknown": {"type": "integer", "minimum": 1}
      }
    }
  }
}
)json";

} // namespace cli
