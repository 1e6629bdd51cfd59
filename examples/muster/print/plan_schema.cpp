// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <muster/vocabulary/answer.hpp>
#include <muster/words/change_name.hpp>
#include <muster/words/reason_name.hpp>

#include "output.hpp"

namespace cli {

namespace {

/// With @GATES@, @REASONS@ and @CHANGES@ in place of their names.
constexpr std::string_view pattern = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://muster.dev/schemas/v1alpha1/plan.json",
  "title": "Plan",
  "description": "The decisions of one scheduling cycle. Objects are in the order of the decisions; keys are always in the order given here.",
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
        "podsNominated": {"description": "Members that are placed once other pods have left.", "$ref": "#/$defs/count"},
        "podsMoved": {"description": "The members among them that move.", "$ref": "#/$defs/count"},
        "podsEvicted": {"$ref": "#/$defs/count"},
        "podsPending": {"description": "Members that wait for a node, including nominated ones.", "$ref": "#/$defs/count"},
        "nodes": {"$ref": "#/$defs/count"},
        "searchSteps": {"$ref": "#/$defs/count"},
        "gpus": {
          "description": "The GPUs of all nodes as the plan leaves them: their number, what is idle of them, and what typical pods cannot use of that on average. Absent if no node has GPUs.",
          "type": "object",
          "additionalProperties": false,
          "required": ["count", "idle", "fragmented"],
          "properties": {
            "count": {"$ref": "#/$defs/count"},
            "idle": {"$ref": "#/$defs/quantity"},
            "fragmented": {"$ref": "#/$defs/quantity"}
          }
        },
        "resources": {
          "description": "By kind: the sum over all nodes, and the requests of all pods that hold a node after the plan. Pods to evict still count; nominated pods do not.",
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
        "origin": {"description": "A T9k PodGroup (or pods that name one), gang labels on pods, a pod of its own, another gang API's object, or a job.", "enum": ["podGroup", "labels", "pod", "coscheduling", "volcano", "kai", "workload", "grove", "job", "kueue"]},
        "queue": {"type": ["string", "null"]},
        "priority": {"type": "integer"},
        "answer": {"description": "Nominated: the group starts once other pods have left. Evicted: so many of its members leave that it falls below its minima.", "enum": ["admitted", "nominated", "evicted", "waiting", "never", "undecided"]},
        "gate": {"description": "The gate that stopped a group that does not start.", "enum": [@GATES@, null]},
        "couldStart": {"description": "For a waiting group: whether a placement in the empty cluster is known, for pods whose volumes and devices are ready and can be reached.", "enum": ["shown", "unknown"]},
        "holding": {"description": "Members that held a node before, or have succeeded.", "$ref": "#/$defs/count"},
        "placements": {"description": "Members that start now and nominated members, in the order in which they were placed.", "type": "array", "items": {"$ref": "#/$defs/placement"}},
        "evictions": {"description": "Pods to evict before the nominated members start, as NAMESPACE/NAME.", "type": "array", "items": {"type": "string", "minLength": 1}},
        "moves": {
          "description": "For members that move: the node of the replacement pod.",
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
          "description": "Members of the group that are to leave, and the group that they make room for, as NAMESPACE/NAME; for members that move, the new node.",
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
        "surplus": {
          "description": "By `muster explain GROUP` of a group that starts or runs: its waiting members, those that are alike together, and why they wait.",
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["pods", "reasons"],
            "properties": {
              "pods": {"type": "array", "items": {"type": "string", "minLength": 1}},
              "reasons": {"type": "array", "items": {"$ref": "#/$defs/reason"}}
            }
          }
        },
        "shortAfterEvictions": {
          "description": "Why no eviction helps: the amount of the resource (without one: of pods) that is needed, and the amount left after evicting every pod that may be evicted.",
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
          "description": "Reserved room: the proofs and answers of other groups count it as used.",
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
          "description": "For a waiting group: its position in its queue, and among all groups.",
          "type": "object",
          "additionalProperties": false,
          "required": ["queue", "overall"],
          "properties": {
            "queue": {"type": "integer", "minimum": 1},
            "overall": {"type": "integer", "minimum": 1}
          }
        },
        "expectedStart": {"description": "When the group starts if the only events are pods that end at their declared times. Only from `muster explain`.", "$ref": "#/$defs/time"},
        "wouldStartIf": {"description": "The smallest changes found that would start the group. Each is sufficient alone and was simulated. Only from `muster explain`.", "type": "array", "items": {"$ref": "#/$defs/remedy"}},
        "wouldStartIfComplete": {"description": "False if the tries were used up: there may be other changes.", "type": "boolean"},
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
        "nominated": {"description": "The pod starts once evicted and terminating pods have left. Absent = it starts now.", "const": true},
        "devices": {"description": "The devices that the pod gets: those of its ResourceClaims, and shares of GPUs.", "type": "array", "minItems": 1, "items": {"$ref": "#/$defs/device"}}
      }
    },
    "device": {
      "type": "object",
      "oneOf": [
        {
          "additionalProperties": false,
          "required": ["request", "driver", "pool", "device"],
          "oneOf": [{"required": ["claim"]}, {"required": ["resource"]}],
          "properties": {
            "claim": {"description": "The entry of the pod.", "type": "string", "minLength": 1},
            "resource": {"description": "The extended resource that the device serves; its claim has no entry.", "type": "string", "minLength": 1},
            "request": {"description": "The request of the claim, or REQUEST/ALTERNATIVE.", "type": "string", "minLength": 1},
            "driver": {"type": "string", "minLength": 1},
            "pool": {"type": "string", "minLength": 1},
            "device": {"type": "string", "minLength": 1}
          }
        },
        {
          "additionalProperties": false,
          "required": ["device", "memory", "cores"],
          "properties": {
            "device": {"description": "The id of the GPU: its UUID, for Koordinator its minor number, for KAI its group; UUID[NAME] or UUID[NAME@SLICE] for an instance (MIG).", "type": "string", "minLength": 1},
            "memory": {"description": "In the unit of the GPU's system: MiB, for Koordinator bytes. Of an RDMA or FPGA device, the amount of its resource.", "type": "integer", "minimum": 0},
            "cores": {"description": "Percent.", "type": "integer", "minimum": 0}
          }
        }
      ]
    },
    "reason": {
      "type": "object",
      "additionalProperties": false,
      "required": ["code", "kind", "roles", "message"],
      "properties": {
        "code": {"enum": [@REASONS@]},
        "kind": {"enum": ["blocking", "blockingTogether", "contributing"]},
        "notMinimal": {"description": "Some of the reasons that block together may not be needed: the search budget was used up.", "const": true},
        "queue": {"description": "The queue of the reason: the group's own, or a parent.", "type": "string", "minLength": 1},
        "resource": {"type": "string", "minLength": 1},
        "needed": {"description": "The least that the group must get.", "$ref": "#/$defs/quantity"},
        "left": {"description": "The total amount.", "$ref": "#/$defs/quantity"},
        "roles": {
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["role", "needed", "possible"],
            "properties": {
              "role": {"$ref": "#/$defs/role"},
              "needed": {"description": "How many members must be placed, in addition to those that hold. With NotEnoughMembers: the minimum.", "$ref": "#/$defs/count"},
              "possible": {"description": "Members that fit if this reason is the only limit and no other role takes room. With NotEnoughMembers: members that exist. With UnsupportedConstraint: waiting members whose constraints are modelled.", "$ref": "#/$defs/count"}
            }
          }
        },
        "keptFor": {"description": "With RoomReserved: the groups that room is reserved for, as NAMESPACE/NAME.", "type": "array", "items": {"type": "string", "minLength": 1}},
        "message": {"description": "For people; may change.", "type": "string", "minLength": 1}
      }
    },
    "remedy": {
      "type": "object",
      "additionalProperties": false,
      "required": ["changes", "whatif"],
      "properties": {
        "changes": {"description": "Changes that are made together.", "type": "array", "items": {"$ref": "#/$defs/change"}},
        "whatif": {"description": "The same as options of `muster whatif`.", "type": "array", "items": {"type": "string", "minLength": 1}}
      }
    },
    "change": {
      "type": "object",
      "additionalProperties": false,
      "required": ["kind"],
      "properties": {
        "kind": {"enum": [@CHANGES@]},
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
        "toCreate": {"description": "Those of `claims` that do not exist and must be created first.", "type": "array", "items": {"type": "string", "minLength": 1}},
        "resourceClaims": {"description": "ResourceClaims to allocate and to reserve for the pods. No option of `muster whatif` does that.", "type": "array", "items": {"type": "string", "minLength": 1}},
        "resourceClaimEntries": {"description": "Entries of the pods' spec.resourceClaims whose ResourceClaims are still to be made from templates, and then allocated. No option of `muster whatif` does that.", "type": "array", "items": {"type": "string", "minLength": 1}},
        "like": {"description": "The node to copy.", "type": "string", "minLength": 1},
        "count": {"type": "integer", "minimum": 1},
        "labels": {"description": "Labels of the added nodes, in place of those of the node that is copied.", "type": "object", "additionalProperties": {"type": "string"}},
        "nodes": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "queue": {"type": "string", "minLength": 1},
        "resource": {"type": "string", "minLength": 1},
        "taint": {"description": "KEY=VALUE:EFFECT, or KEY:EFFECT.", "type": "string", "minLength": 1},
        "label": {"type": "string", "minLength": 1},
        "level": {"description": "The node label that defines the domains.", "type": "string", "minLength": 1},
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
          "description": "The effects of required pod terms on each node alone, as far as the proof needs them.",
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["class", "rule"],
            "properties": {
              "class": {"$ref": "#/$defs/count"},
              "rule": {"description": "keptOff: no pod of the class, because the node lacks a label that its terms use, or because anti-affinity with running pods forbids it. apart: by this anti-affinity term of the class, no two pods of it and the other class on one node. spread: by this spread term, on no node more than its skew plus the fewest, minus the pods in its domain.", "enum": ["keptOff", "apart", "spread"]},
              "term": {"description": "Position of the class's required anti-affinity or spread term, from 0.", "type": "integer", "minimum": 0},
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
          "description": "Either at most this many of the class are on the node, or more.",
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
          "description": "The members at or below one vertex must be in one domain of the level: one proof per candidate domain.",
          "type": "object",
          "additionalProperties": false,
          "required": ["together", "level", "domains"],
          "properties": {
            "together": {"description": "The name of the role or subgroup; null for the group as a whole.", "type": ["string", "null"], "minLength": 1},
            "level": {"description": "The node label that defines the domains.", "type": "string", "minLength": 1},
            "domains": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["domain", "proof"],
                "properties": {
                  "domain": {"description": "The values of the labels from the coarsest level to this one; null if there is no domain, so that no member can be placed.", "type": ["array", "null"], "items": {"type": "string"}},
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

/// Replaces the placeholder by the names, as the elements of a JSON array.
template<class Names>
void fill_in(std::string& text, std::string_view placeholder, const Names& names) {
    std::string list;
    for (const std::string_view name : names)
        list.append(list.empty() ? "\"" : ", \"").append(name).append("\"");
    text.replace(text.find(placeholder), placeholder.size(), list);
}

} // namespace

std::string plan_schema() {
    std::vector<std::string_view> gates(std::begin(muster::gate_names),
                                        std::end(muster::gate_names));
    std::erase(gates, name_of(muster::gate::none));
    std::string text(pattern);
    fill_in(text, "@GATES@", gates);
    fill_in(text, "@REASONS@", muster::words::all_reason_names());
    fill_in(text, "@CHANGES@", muster::words::change_names);
    return text;
}

} // namespace cli
