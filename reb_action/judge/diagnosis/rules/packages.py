"""Packages that research code is written against, and whose names come and go with versions."""

_NAMES = (
    "torch|torchvision|torchaudio|torchtext|torchmetrics|torchdata|torch_geometric|pytorch_lightning|"
    "lightning|pytorch3d|functorch|tensorflow|tensorflow_probability|tf|keras|tf_keras|jax|jaxlib|"
    "flax|optax|chex|haiku|numpy|np|scipy|pandas|sklearn|skimage|cv2|PIL|matplotlib|seaborn|"
    "transformers|diffusers|accelerate|peft|trl|datasets|evaluate|tokenizers|huggingface_hub|"
    "safetensors|sentence_transformers|omegaconf|hydra|gym|gymnasium|stable_baselines3|mujoco|timm|"
    "mmcv|mmdet|mmdet3d|mmseg|mmengine|mmpose|detectron2|librosa|kornia|albumentations|imageio|"
    "moviepy|networkx|dgl|triton|xformers|flash_attn|mamba_ssm|vllm|deepspeed|bitsandbytes|apex|"
    "megatron|pydantic|google|importlib_metadata|jinja2|markupsafe|click|werkzeug|flask|gradio|"
    "typing_extensions|attr|yaml|nltk|spacy|setuptools|pkg_resources|pip|packaging|openai|"
    "langchain|modelscope|ray|wandb|requests|urllib3|lib|OpenSSL|charset_normalizer|chardet|numba|"
    "llvmlite|h5py|pyarrow|fsspec|open3d|trimesh|nerfstudio|gsplat|fairseq|allennlp|monai|spconv|ruamel|"
    "starlette|six"
)

# One of them, whole: what follows is a dot or the end of the name.
PACKAGES = rf"(?:{_NAMES})\b"
