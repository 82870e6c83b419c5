//! The operator `Encoder` of the int8 model, as ONNX Runtime sees it: its inputs, and the encoder that they make.
//! What it computes is in `sentinel-encoder`; what a model file says of it, in `model/integer.py`.

use std::{
    cell::RefCell,
    slice::Iter,
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
};

use ort::{
    Error, Result,
    operator::{
        ComputeContext, Kernel, KernelContext, Operator, OperatorDomain, OperatorInput, OperatorOutput,
    },
    session::builder::SessionBuilder,
    value::{DynTensorValueType, TensorElementType, ValueRef},
};
use sentinel_encoder::{Encoder, Helper, Linear, NormWeights, Processor, Scratch, Tables, Weights};

use super::IdleWorkers;

const DOMAIN: &str = "agent.sentinel";
const NAME: &str = "Encoder";
/// Inputs before it are read where they are; those from it on are laid out anew once.
const FIRST_CONSTANT: usize = 3;

/// Who may assist a session; nobody until it is told.
pub type Assistants = Arc<OnceLock<Arc<dyn IdleWorkers>>>;

/// Registers the operator with a session, computed by `processor`; without one, ONNX Runtime takes the model file's word for
/// what it is.
///
/// # Errors
/// When ONNX Runtime refuses.
pub fn register(
    session: SessionBuilder,
    processor: Option<Processor>,
    assistants: &Assistants,
) -> Result<SessionBuilder> {
    match processor {
        Some(processor) => {
            let operator = EncoderOperator { processor, assistants: Arc::clone(assistants) };
            Ok(session.with_operators(OperatorDomain::new(DOMAIN)?.add(operator)?)?)
        }
        None => Ok(session),
    }
}

struct EncoderOperator {
    processor: Processor,
    assistants: Assistants,
}

impl Operator for EncoderOperator {
    type Kernel<'attr> = EncoderKernel;

    fn name(&self) -> &str {
        NAME
    }

    /// Token ids, the embeddings of tokens and of positions; a scale and a shift of the norm before the first layer; and for
    /// each layer the smoothing factors of qkv and of up; for qkv, the attention output, up and down a weight, its scale and
    /// bias; for the norms after attention and at the end a scale and a shift. The model file calls the last three products
    /// `out`, `widen` and `narrow`, and the two norms `attended` and `done`.
    fn inputs(&self) -> impl IntoIterator<Item = OperatorInput> {
        // All in one: how many there are depends on the number of layers.
        [OperatorInput::variadic(FIRST_CONSTANT)]
    }

    fn outputs(&self) -> impl IntoIterator<Item = OperatorOutput> {
        [OperatorOutput::required(TensorElementType::Float32)]
    }

    fn create_kernel<'attr>(&self, context: &KernelContext<'attr>) -> Result<EncoderKernel> {
        let constants = (FIRST_CONSTANT..context.inputs()?.len()).map(|at| context.constant_input(at));
        let constants = constants.collect::<Result<Vec<Constant<'_>>>>()?;
        let missing = |name: &str| Error::new(format!("{DOMAIN}:{NAME} has no attribute {name}"));
        let heads = context.get::<i64>("heads").and_then(|heads| usize::try_from(heads).ok());
        let heads = heads.ok_or_else(|| missing("heads"))?;
        let epsilon = context.get::<f32>("epsilon").ok_or_else(|| missing("epsilon"))?;
        let mut constants = Constants(constants.iter());
        let first = constants.norm()?;
        let mut layers = Vec::new();
        while !constants.0.as_slice().is_empty() {
            layers.push(constants.weights(heads, epsilon)?);
        }
        Ok(EncoderKernel {
            encoder: shared(&first, &layers)?,
            processor: self.processor,
            assistants: Arc::clone(&self.assistants),
        })
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The encoder at work in one session.
struct EncoderKernel {
    encoder: Arc<Encoder>,
    processor: Processor,
    assistants: Assistants,
}

impl EncoderKernel {
    fn ask(&self, helper: Helper) -> bool {
        let Some(workers) = self.assistants.get() else { return false };
        workers.assist(Box::new(|| SCRATCH.with_borrow_mut(|scratch| helper.work(scratch))))
    }
}

impl Kernel for EncoderKernel {
    /// From token ids `[1, n]` to the mean `[1, hidden]`.
    fn compute(&mut self, context: &ComputeContext) -> Result<()> {
        let input =
            |at| context.input(at)?.ok_or_else(|| Error::new(format!("{DOMAIN}:{NAME} lacks input {at}")));
        let (token_ids, words, positions) = (input(0)?, input(1)?, input(2)?);
        let (_, token_ids) = token_ids.try_extract_tensor::<i64>()?;
        let (_, words) = words.try_extract_tensor::<f32>()?;
        let (_, positions) = positions.try_extract_tensor::<f32>()?;
        let output = context.output(0, [1, self.encoder.hidden()])?;
        let mut output = output.ok_or_else(|| Error::new("no place for the mean"))?;
        let (_, mean) = output.try_extract_tensor_mut::<f32>()?;
        let tables = Tables { words, positions };
        SCRATCH
            .with_borrow_mut(|scratch| {
                let ask = &mut |helper| self.ask(helper);
                self.encoder.run(self.processor, scratch, &tables, token_ids, mean, ask)
            })
            .map_err(Error::wrap)
    }
}

type Constant<'a> = ValueRef<'a, DynTensorValueType>;

/// What a node is given in the model file, in the order of [`EncoderOperator::inputs`].
struct Constants<'a>(Iter<'a, Constant<'a>>);

impl<'a> Constants<'a> {
    fn weights(&mut self, heads: usize, epsilon: f32) -> Result<Weights<'a>> {
        let (qkv_smoothing, up_smoothing) = (self.floats()?, self.floats()?);
        let (qkv, attention_output) = (self.linear()?, self.linear()?);
        let (up, down) = (self.linear()?, self.linear()?);
        let (attention_norm, output_norm) = (self.norm()?, self.norm()?);
        Ok(Weights {
            hidden: qkv_smoothing.len(),
            heads,
            intermediate: up.bias.len(),
            qkv_smoothing,
            qkv,
            attention_output,
            attention_norm,
            up_smoothing,
            up,
            down,
            output_norm,
            epsilon,
        })
    }

    fn linear(&mut self) -> Result<Linear<'a>> {
        let (_, weight) = self.next()?.try_extract_tensor::<i8>()?;
        Ok(Linear { weight, scale: self.floats()?, bias: self.floats()? })
    }

    fn norm(&mut self) -> Result<NormWeights<'a>> {
        Ok(NormWeights { scale: self.floats()?, shift: self.floats()? })
    }

    fn floats(&mut self) -> Result<&'a [f32]> {
        Ok(self.next()?.try_extract_tensor::<f32>()?.1)
    }

    fn next(&mut self) -> Result<&'a Constant<'a>> {
        self.0.next().ok_or_else(|| Error::new(format!("{DOMAIN}:{NAME} lacks an input")))
    }
}

/// The encoder of these weights; that of another session, if it has the same. So the workers' sessions share the
/// processor's cache.
fn shared(first: &NormWeights<'_>, layers: &[Weights<'_>]) -> Result<Arc<Encoder>> {
    static OPEN: Mutex<Vec<Weak<Encoder>>> = Mutex::new(Vec::new());
    let encoder = Arc::new(Encoder::new(first, layers).map_err(Error::wrap)?);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|other| other.strong_count() > 0);
    if let Some(same) = open.iter().filter_map(Weak::upgrade).find(|other| *other == encoder) {
        return Ok(same);
    }
    open.push(Arc::downgrade(&encoder));
    Ok(encoder)
}
