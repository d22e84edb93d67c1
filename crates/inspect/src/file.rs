//! Trace files: safetensors with one metadata entry, `attnscope`. Any tool that reads safetensors reads them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use attnscope_kernel::Bias;
use bytemuck::Pod;
use safetensors::tensor::{Metadata, SafeTensors, TensorInfo};
use safetensors::{Dtype, View, serialize_to_file};
use serde::{Deserialize, Serialize};

use self::params::SiteHeader;
use crate::data::Mapped;
use crate::error::fit_to_show;
use crate::{Data, Error, Model, Read, Site, SiteKind, Tensor, Token, Trace};

mod params;

/// The metadata entry's name.
const KEY: &str = "attnscope";
/// The format that this version writes, and the only one it reads.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    version: String,
    isa: String,
    model: Model,
    text: String,
    tokens: Vec<Token>,
    /// What the encoder of an encoder-decoder read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoder: Option<Read>,
    sites: Vec<SiteHeader>,
}

impl Trace {
    /// Keeps the trace in a file: tensors `blocks.{layer}.{site}.{q,k,v,out}` as (len, heads, head_dim) F32 and
    /// `.lse` as (q_heads, q_len) F64; `.bias` as (batch, heads, q_len, kv_len) F32 where there is one. The file appears whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let header = Header {
            format: FORMAT,
            version: self.version.clone(),
            isa: self.isa.clone(),
            model: self.model.clone(),
            text: self.text.clone(),
            tokens: self.tokens.clone(),
            encoder: self.encoder.clone(),
            sites: self.sites.iter().map(SiteHeader::of).collect(),
        };
        let problem = |error: String| file_error(path, format!("cannot write the trace: {error}"));
        let json = serde_json::to_string(&header).map_err(|error| problem(error.to_string()))?;
        let tensors = self.sites.iter().flat_map(|site| {
            let name = |part: &str| tensor_name(site.kind, site.layer, part);
            [
                (name("q"), Stored::f32(&site.q)),
                (name("k"), Stored::f32(&site.k)),
                (name("v"), Stored::f32(&site.v)),
                (name("out"), Stored::f32(&site.out)),
                (name("lse"), Stored::lse(site)),
            ]
            .into_iter()
            .chain(site.params.bias.as_ref().map(|bias| (name("bias"), Stored::bias(bias))))
        });
        let tensors: Vec<(String, Stored)> = tensors.collect();
        serialize_to_file(tensors, Some(HashMap::from([(KEY.to_owned(), json)])), &absolute(path))
            .map_err(|error| problem(error.to_string()))?;
        share(&absolute(path)).map_err(|error| problem(error.to_string()))
    }

    /// Opens a trace file. It is mapped, not read: only what is asked for is brought in.
    ///
    /// # Errors
    /// If it is missing, cut short, no trace, or one from a later format.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let fail = |problem: String| file_error(path, problem);
        let file = File::open(path).map_err(|error| fail(format!("cannot open the trace: {error}")))?;
        let map = Mapped::new(file).map_err(|error| fail(format!("cannot map the trace: {error}")))?;
        let (header_len, metadata) = SafeTensors::read_metadata(&map).map_err(|error| {
            fail(format!("not a whole safetensors file ({error}); make the trace again with `attnscope trace`"))
        })?;
        let json = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY));
        let Some(json) = json else {
            let hint = "a safetensors file, but no trace: it has no `attnscope` entry. A model is opened by its folder";
            return Err(fail(hint.to_owned()));
        };
        let format: Format = parse(path, json)?;
        if format.format != FORMAT {
            let found = format.format;
            return Err(fail(format!(
                "trace format {found}, but this version reads format {FORMAT}; use a newer attnscope"
            )));
        }
        let header: Header = parse(path, json)?;
        let reader = Reader { path, map: Arc::new(map), start: header_len + 8, metadata: &metadata };
        let sites = header.sites.iter().map(|site| reader.site(site)).collect::<Result<_, _>>()?;
        let Header { model, text, tokens, encoder, version, isa, .. } = header;
        let trace = Self { model, text, tokens, encoder, sites, version, isa };
        trace.check().map_err(|error| fail(format!("its pieces do not fit: {error}")))?;
        Ok(trace)
    }
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

fn parse<'a, T: Deserialize<'a>>(path: &Path, json: &'a str) -> Result<T, Error> {
    serde_json::from_str(json)
        .map_err(|error| file_error(path, format!("its `attnscope` entry does not read: {error}")))
}

struct Reader<'a> {
    path: &'a Path,
    map: Arc<Mapped>,
    /// Where the tensors' bytes begin.
    start: usize,
    metadata: &'a Metadata,
}

impl Reader<'_> {
    fn site(&self, header: &SiteHeader) -> Result<Site, Error> {
        let tensor = |part| self.tensor(&tensor_name(header.site, header.layer, part));
        let (q, k, v, out) = (tensor("q")?, tensor("k")?, tensor("v")?, tensor("out")?);
        let lse = tensor_name(header.site, header.layer, "lse");
        let info = self.info(&lse, Dtype::F64, &[q.shape[1], q.shape[0]])?;
        let lse = self.data(&lse, info)?;
        let mut params = header.params().map_err(|problem| self.fail(problem.to_string()))?;
        let bias = tensor_name(header.site, header.layer, "bias");
        if self.metadata.info(&bias).is_some() {
            params.bias = Some(self.bias(&bias)?);
        }
        Ok(Site { kind: header.site, layer: header.layer, params, q, k, v, out, lse })
    }

    fn tensor(&self, name: &str) -> Result<Tensor, Error> {
        let Some(info) = self.metadata.info(name) else {
            return Err(self.fail(format!("tensor {name} is missing")));
        };
        let &[len, heads, dim] = &info.shape[..] else {
            return Err(
                self.fail(format!("tensor {name} has shape {:?}, but must be (len, heads, head_dim)", info.shape))
            );
        };
        self.info(name, Dtype::F32, &info.shape)?;
        Ok(Tensor::new(self.data::<f32>(name, info)?, [len, heads, dim]))
    }

    /// A bias lies in the file as (batch, heads, q_len, kv_len).
    fn bias(&self, name: &str) -> Result<Bias, Error> {
        let shape = self.metadata.info(name).map(|info| info.shape.clone()).unwrap_or_default();
        let &[batch, heads, q_len, kv_len] = &shape[..] else {
            let want = "(batch, heads, q_len, kv_len)";
            return Err(self.fail(format!("tensor {name} has shape {shape:?}, but must be {want}")));
        };
        let data: Data<f32> = self.data(name, self.info(name, Dtype::F32, &shape)?)?;
        Bias::new(data.to_vec(), [batch, heads, q_len, kv_len]).map_err(|problem| self.fail(problem.to_string()))
    }

    fn info(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<&TensorInfo, Error> {
        match self.metadata.info(name) {
            Some(info) if info.dtype == dtype && info.shape == shape => Ok(info),
            Some(info) => {
                let got = format!("{:?} {:?}", info.dtype, info.shape);
                Err(self.fail(format!("tensor {name} is {got}, but must be {dtype:?} {shape:?}")))
            }
            None => Err(self.fail(format!("tensor {name} is missing"))),
        }
    }

    fn data<T: Pod>(&self, name: &str, info: &TensorInfo) -> Result<Data<T>, Error> {
        let (from, to) = info.data_offsets;
        Data::mapped(self.map.clone(), self.start + from..self.start + to).ok_or_else(|| {
            self.fail(format!("tensor {name} is not aligned; write the file with the safetensors library"))
        })
    }

    fn fail(&self, problem: String) -> Error {
        file_error(self.path, problem)
    }
}

fn file_error(path: &Path, problem: String) -> Error {
    Error::File { path: path.to_owned(), problem: fit_to_show(&problem) }
}

fn tensor_name(kind: SiteKind, layer: usize, part: &str) -> String {
    format!("blocks.{layer}.{kind}.{part}")
}

/// The library writes beside the file and needs to know where that is.
fn absolute(path: &Path) -> Cow<'_, Path> {
    std::path::absolute(path).map_or(Cow::Borrowed(path), Cow::Owned)
}

/// The library makes files that only their owner reads. A trace gets the rights that any new file gets here.
fn share(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let any = std::fs::Permissions::from_mode(0o666);
        let rights = tempfile::Builder::new().permissions(any).tempfile_in(folder)?.as_file().metadata()?.permissions();
        std::fs::set_permissions(path, rights)?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// A tensor on its way to a file.
struct Stored<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

impl<'a> Stored<'a> {
    fn f32(tensor: &'a Tensor) -> Self {
        Self { dtype: Dtype::F32, shape: tensor.shape.to_vec(), bytes: bytemuck::cast_slice(&tensor.data) }
    }

    fn bias(bias: &'a Bias) -> Self {
        Self { dtype: Dtype::F32, shape: bias.shape().to_vec(), bytes: bytemuck::cast_slice(bias.data()) }
    }

    fn lse(site: &'a Site) -> Self {
        Self { dtype: Dtype::F64, shape: vec![site.q_heads(), site.q_len()], bytes: bytemuck::cast_slice(&site.lse) }
    }
}

impl View for Stored<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}
