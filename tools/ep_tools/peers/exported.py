"""Export known architectures with random weights from PyTorch, run them on EP, and compare results and times.

    pip install torch==2.13.0 transformers==5.23.0 diffusers==0.42.1 onnxscript==0.7.2
    python tools exported --only llama

The error is the largest difference from PyTorch's own results, over the largest element of each. PyTorch is eager, with 2 threads.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
import ep_onnx
import numpy as np
import torch
import transformers as hub
from ep_onnx.report import report

from ep_tools.devices import DeviceName
from ep_tools.markdown import table
from ep_tools.peers.pairs import memory, paired

if TYPE_CHECKING:
    from collections.abc import Iterator

    import ep

__all__ = ["command"]

SIZE: Final = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 512}
EAGER: Final = {"attn_implementation": "eager"}
"""Attention as products and a softmax, not as one operation."""

KEPT: Final = 64
"""Tokens before the one of a step."""


class Architecture(NamedTuple):
    """A module with its arguments."""

    name: str
    module: torch.nn.Module
    arguments: tuple[torch.Tensor, ...] = ()
    keywords: dict[str, Any] = {}  # noqa: RUF012 - never written


class Step(torch.nn.Module):
    """One token of GPT-2: its logits, and the keys and values with its own behind those before it."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, token: torch.Tensor, *past: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return logits (1, 1, words), and for each layer keys and values (1, heads, KEPT + 1, width)."""
        cache = hub.DynamicCache(config=self.model.config)
        for place in range(len(past) // 2):
            cache.update(past[2 * place], past[2 * place + 1], place)
        made = self.model(token, past_key_values=cache, use_cache=True)
        return (made.logits, *[each for layer in made.past_key_values.layers for each in (layer.keys, layer.values)])


def tokens(*shape: int) -> torch.Tensor:
    """Return random words of a thousand."""
    return torch.randint(0, 1000, shape)


def architectures() -> Iterator[Architecture]:
    """Yield each, small, but for GPT-2's step, which has all of its 124 million weights."""
    text = {"vocab_size": 1000, "use_cache": False, **EAGER}
    yield Architecture("BERT", hub.BertModel(hub.BertConfig(**text, **SIZE)), (tokens(2, 33),))
    width = {"n_embd": 256, "n_layer": 4, "n_head": 4}
    yield Architecture("GPT-2", hub.GPT2LMHeadModel(hub.GPT2Config(**text, **width)), (tokens(1, 40),))
    yield Architecture(
        "Llama", hub.LlamaForCausalLM(hub.LlamaConfig(**text, **SIZE, num_key_value_heads=2)), (tokens(1, 40),)
    )
    sound = {
        f"{side}_{what}": number
        for side in ("encoder", "decoder")
        for what, number in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 256))
    }
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    whisper = hub.WhisperConfig(**text, **sound, **special, d_model=128, num_mel_bins=80, max_source_positions=100)
    heard = {"input_features": torch.randn(1, 80, 200), "decoder_input_ids": tokens(1, 12)}
    yield Architecture("Whisper", hub.WhisperModel(whisper), (), heard)
    yield Architecture(
        "ViT",
        hub.ViTForImageClassification(hub.ViTConfig(image_size=64, **EAGER, **SIZE)),
        (torch.randn(1, 3, 64, 64),),
    )
    yolos = hub.YolosConfig(
        image_size=[96, 96], num_detection_tokens=10, use_mid_position_embeddings=False, **EAGER, **SIZE
    )
    yield Architecture("YOLOS", hub.YolosForObjectDetection(yolos), (torch.randn(1, 3, 96, 96),))
    resnet = hub.ResNetConfig(depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512], layer_type="basic")
    yield Architecture("ResNet-18", hub.ResNetForImageClassification(resnet), (torch.randn(1, 3, 128, 128),))
    mobile = hub.MobileNetV2Config(image_size=128)
    yield Architecture("MobileNet v2", hub.MobileNetV2ForImageClassification(mobile), (torch.randn(1, 3, 128, 128),))
    yield unet()
    model = hub.GPT2LMHeadModel(hub.GPT2Config(**EAGER))
    past = [torch.randn(1, 12, KEPT, 64) for _ in range(2 * 12)]
    yield Architecture(f"GPT-2, one token after {KEPT}", Step(model), (tokens(1, 1), *past))


def unet() -> Architecture:
    """Return a small UNet as Stable Diffusion has it."""
    import diffusers  # noqa: PLC0415 - slow

    both = {"down": ("CrossAttnDownBlock2D", "DownBlock2D"), "up": ("UpBlock2D", "CrossAttnUpBlock2D")}
    module = diffusers.UNet2DConditionModel(
        sample_size=16,
        layers_per_block=1,
        block_out_channels=(32, 64),
        cross_attention_dim=32,
        norm_num_groups=8,
        attention_head_dim=8,
        **{f"{side}_block_types": kinds for side, kinds in both.items()},
    )
    module.set_attn_processor(diffusers.models.attention_processor.AttnProcessor())
    noise, text = torch.randn(1, 4, 16, 16), torch.randn(1, 7, 32)
    return Architecture("UNet", module, (noise, torch.tensor([5]), text), {"return_dict": False})


def exported(each: Architecture) -> bytes:
    """Return the model as ONNX."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(each.module, each.arguments, kwargs=each.keywords, dynamo=True, verbose=False)
    file = io.BytesIO()
    program.save(file)
    return file.getvalue()


def arrays(made: Any) -> list[Any]:
    """Return the tensors in a result of PyTorch's."""
    if isinstance(made, torch.Tensor):
        return [made.detach().numpy()]
    parts = made.values() if isinstance(made, dict) else made
    return [array for part in parts for array in arrays(part)]


def measured(each: Architecture, device: ep.Device, seconds: float) -> list[str]:
    """Return the table's row of an architecture."""
    session = ep_onnx.Session(exported(each), device)
    tensors = [*each.arguments, *[given for given in each.keywords.values() if isinstance(given, torch.Tensor)]]
    inputs = [tensor.numpy() for tensor in tensors]

    def eager() -> Any:
        return each.module(*each.arguments, **each.keywords)

    wanted = arrays(eager())
    errors = [
        float(np.abs(here.astype(np.float64) - there).max() / np.abs(there).max())
        for here, there in zip(session.run(inputs), wanted, strict=True)
    ]
    pairs = paired(lambda: session.run(inputs), eager, seconds)
    found = report(session)
    counts = [str(len(session.model.graph.nodes)), str(found.launches), str(len(found.waits))]
    row = [each.name, *counts, f"{max(errors):.1e}", memory(session), *pairs.cells()]
    session.close()
    return row


@click.command()
@click.option("--device", type=DeviceName(), default="cpu:0")
@click.option("--only", default="", help="Architectures whose name holds this; all.")
@click.option("--seconds", type=click.FloatRange(min=0), default=3, help="Of paired runs, for each architecture.")
def command(device: ep.Device, only: str, seconds: float) -> None:
    """Print a table of architectures."""
    torch.manual_seed(0)
    torch.set_num_threads(2)
    rows = []
    with torch.no_grad():
        for each in architectures():
            if only.lower() in each.name.lower():
                each.module.eval()
                rows.append(measured(each, device, seconds))
                click.echo(str(rows[-1]), err=True)
    if not rows:
        message = f"no architecture has a name with {only!r}; docs/reports/onnx-models.md has names"
        raise click.UsageError(message)
    heads = ["architecture", "nodes", "launches", "waits", "error", "arena / unshared, MiB"]
    click.echo("\n".join(table([*heads, "EP, ms", "PyTorch, ms", "ratio", "p25"], rows)))
