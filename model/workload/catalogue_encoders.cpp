// The catalogue: encoders, T5 and vision transformers.
#include "model/workload/catalogue.hpp"

namespace sextant {
namespace {

void pretraining(TransformerSpec& spec) { spec.predicted_tokens = 77; }  // 15 % of 512 tokens, arXiv 1810.04805 section 3.1
void squad(TransformerSpec& spec) {
    spec.head = HeadKind::question_answering;
    spec.pooler = false;
    spec.max_positions = 512;
}
void roberta(TransformerSpec& spec) {  // arXiv 1907.11692, section 4: masked words alone; its position table starts at two
    spec.pooler = false;
    spec.type_vocab = 1;
    spec.max_positions = spec.seq_len + 2;
    pretraining(spec);
}
void distilbert(TransformerSpec& spec) {  // without the teacher that it learns from
    spec.pooler = false;
    spec.type_vocab = 0;
    pretraining(spec);
}
void t5_v1_1(TransformerSpec& spec) {
    spec.head_dim = 64;
    spec.mlp = MlpKind::geglu;
    spec.tied_embeddings = false;
}
void head_64(TransformerSpec& spec) { spec.head_dim = 64; }
void head_128(TransformerSpec& spec) { spec.head_dim = 128; }
void patch_8(TransformerSpec& spec) { spec.patch_px = 8; }
void patch_14(TransformerSpec& spec) { spec.patch_px = 14; }
void patch_32(TransformerSpec& spec) { spec.patch_px = 32; }

constexpr std::string_view bert_paper = "arXiv 1810.04805, section 3";
constexpr std::string_view roberta_paper = "arXiv 1907.11692, table 9; config.json of FacebookAI/roberta";
constexpr std::string_view distilbert_paper = "arXiv 1910.01108, section 3; config.json of distilbert/distilbert-base-uncased";
constexpr std::string_view t5_paper = "arXiv 1910.10683, section 3.7; config.json of google-t5";
constexpr std::string_view xlm_roberta = "arXiv 1911.02116, table 6; config.json of FacebookAI/xlm-roberta";
constexpr std::string_view t5_v1_1_config = "config.json of google/t5-v1_1; arXiv 2002.05202 (the gate)";
constexpr std::string_view mt5 = "arXiv 2010.11934, section 3.2; config.json of google/mt5";
constexpr std::string_view vit_paper = "arXiv 2010.11929, table 1";
constexpr std::string_view vit_g = "arXiv 2106.04560, table 2";
constexpr std::string_view deit = "arXiv 2012.12877, table 1 (tiny, small)";

using enum NetworkStyle;
constexpr CatalogueEntry encoder_networks[] = {
    {"bert-base", "BERT base", bert_paper, bert, 12, 768, 3072, 12, 12, 30522, 512, pretraining},
    {"bert-large", "BERT large", bert_paper, bert, 24, 1024, 4096, 16, 16, 30522, 512, pretraining},
    {"bert-base-squad", "BERT base, SQuAD", bert_paper, bert, 12, 768, 3072, 12, 12, 30522, 384, squad},
    {"bert-large-squad", "BERT large, SQuAD", bert_paper, bert, 24, 1024, 4096, 16, 16, 30522, 384, squad},
    {"roberta-base", "RoBERTa base", roberta_paper, bert, 12, 768, 3072, 12, 12, 50265, 512, roberta},
    {"roberta-large", "RoBERTa large", roberta_paper, bert, 24, 1024, 4096, 16, 16, 50265, 512, roberta},
    {"xlm-roberta-base", "XLM-R base", xlm_roberta, bert, 12, 768, 3072, 12, 12, 250002, 512, roberta},
    {"xlm-roberta-large", "XLM-R large", xlm_roberta, bert, 24, 1024, 4096, 16, 16, 250002, 512, roberta},
    {"distilbert-base", "DistilBERT base", distilbert_paper, bert, 6, 768, 3072, 12, 12, 30522, 512, distilbert},
    {"t5-small", "T5 small", t5_paper, t5, 6, 512, 2048, 8, 8, 32128, 512, head_64},
    {"t5-base", "T5 base", t5_paper, t5, 12, 768, 3072, 12, 12, 32128, 512, head_64},
    {"t5-large", "T5 large", t5_paper, t5, 24, 1024, 4096, 16, 16, 32128, 512, head_64},
    {"t5-3b", "T5 3B", t5_paper, t5, 24, 1024, 16384, 32, 32, 32128, 512, head_128},
    {"t5-11b", "T5 11B", t5_paper, t5, 24, 1024, 65536, 128, 128, 32128, 512, head_128},
    {"t5-v1_1-small", "T5 v1_1 small", t5_v1_1_config, t5, 8, 512, 1024, 6, 6, 32128, 512, t5_v1_1},
    {"t5-v1_1-base", "T5 v1_1 base", t5_v1_1_config, t5, 12, 768, 2048, 12, 12, 32128, 512, t5_v1_1},
    {"t5-v1_1-large", "T5 v1_1 large", t5_v1_1_config, t5, 24, 1024, 2816, 16, 16, 32128, 512, t5_v1_1},
    {"t5-v1_1-xl", "T5 v1_1 XL", t5_v1_1_config, t5, 24, 2048, 5120, 32, 32, 32128, 512, t5_v1_1},
    {"t5-v1_1-xxl", "T5 v1_1 XXL", t5_v1_1_config, t5, 24, 4096, 10240, 64, 64, 32128, 512, t5_v1_1},
    {"mt5-small", "mT5 small", mt5, t5, 8, 512, 1024, 6, 6, 250112, 512, t5_v1_1},
    {"mt5-base", "mT5 base", mt5, t5, 12, 768, 2048, 12, 12, 250112, 512, t5_v1_1},
    {"mt5-large", "mT5 large", mt5, t5, 24, 1024, 2816, 16, 16, 250112, 512, t5_v1_1},
    {"mt5-xl", "mT5 XL", mt5, t5, 24, 2048, 5120, 32, 32, 250112, 512, t5_v1_1},
    {"mt5-xxl", "mT5 XXL", mt5, t5, 24, 4096, 10240, 64, 64, 250112, 512, t5_v1_1},
    {"vit-ti16", "ViT-Ti/16", deit, vit, 12, 192, 768, 3, 3, 1, 197},
    {"vit-s16", "ViT-S/16", deit, vit, 12, 384, 1536, 6, 6, 1, 197},
    {"vit-s32", "ViT-S/32", deit, vit, 12, 384, 1536, 6, 6, 1, 50, patch_32},
    {"vit-b8", "ViT-B/8", vit_paper, vit, 12, 768, 3072, 12, 12, 1, 785, patch_8},
    {"vit-b16", "ViT-B/16", vit_paper, vit, 12, 768, 3072, 12, 12, 1, 197},
    {"vit-b32", "ViT-B/32", vit_paper, vit, 12, 768, 3072, 12, 12, 1, 50, patch_32},
    {"vit-l14", "ViT-L/14", vit_paper, vit, 24, 1024, 4096, 16, 16, 1, 257, patch_14},
    {"vit-l16", "ViT-L/16", vit_paper, vit, 24, 1024, 4096, 16, 16, 1, 197},
    {"vit-l32", "ViT-L/32", vit_paper, vit, 24, 1024, 4096, 16, 16, 1, 50, patch_32},
    {"vit-h14", "ViT-H/14", vit_paper, vit, 32, 1280, 5120, 16, 16, 1, 257, patch_14},
    {"vit-g14", "ViT-g/14", vit_g, vit, 40, 1408, 6144, 16, 16, 1, 257, patch_14},
};

}  // namespace

std::span<const CatalogueEntry> encoder_entries() { return encoder_networks; }

}  // namespace sextant
