#include "core/mechanism/build.h"

#include "core/mechanism/attention/build.h"
#include "core/mechanism/seq2seq/build.h"

namespace attnscope {

Graph build(const Experiment& experiment) {
    switch (experiment.mechanism) {
        case MechanismKind::seq2seq: return Seq2seqBuilder(experiment).build();
        case MechanismKind::attention: break;
    }
    return AttentionBuilder(experiment).build();
}

}  // namespace attnscope
