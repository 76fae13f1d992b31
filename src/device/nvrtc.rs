//! CUDA's run-time compiler (NVRTC): compiles a unit to machine code.

use super::driver::SourceUnit;
use crate::{Error, Result};
use cudarc::nvrtc::{result, sys};
use std::ffi::{CString, c_char};

/// The remedy without the compiler.
const REMEDY: &str = "install CUDA's run-time compiler (libnvrtc, part of the CUDA toolkit or of PyPI's nvidia-cuda-nvrtc) and let \
                      LD_LIBRARY_PATH find it, or add --set run.device=cpu";

/// The options of every compilation.
const OPTIONS: [&str; 6] = [
    "--std=c++17",
    "--device-as-default-execution-space",
    // single precision: flush denormals; division and square root within two units in the last place
    "--ftz=true",
    "--prec-div=false",
    "--prec-sqrt=false",
    "--generate-line-info",
];

/// The compiler's version.
///
/// # Errors
/// [`Error::Usage`] where it is not installed.
pub fn version() -> Result<(i32, i32)> {
    // SAFETY: only checks whether the library can be loaded
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::usage("CUDA's run-time compiler (libnvrtc) is not installed here", REMEDY));
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both are written
    unsafe { sys::nvrtcVersion(&mut major, &mut minor) }.result().map_err(|cause| {
        Error::usage(format!("CUDA's run-time compiler does not work: {cause:?}"), REMEDY)
    })?;
    Ok((major, minor))
}

/// An NVRTC program, destroyed when dropped.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created by nvrtcCreateProgram and not used again
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn text(of: &str) -> CString {
    CString::new(of).unwrap_or_else(|_| unreachable!("sources have no zero bytes"))
}

/// Compiles a unit to machine code for an architecture such as "sm_90". Needs no GPU.
///
/// # Errors
/// [`Error::Device`] with the compiler's log.
pub fn compile(unit: &SourceUnit, architecture: &str) -> Result<Vec<u8>> {
    version()?;
    let failed = |what: String| {
        Error::device(
            format!("kernels of {} do not compile for {architecture}: {what}", unit.file),
            "use a CUDA toolkit that knows this GPU (13.0 is what this program is tested with)",
        )
    };
    let (source, name) = (text(unit.text), text(unit.file));
    let texts: Vec<CString> = unit.headers.iter().map(|(_, header)| text(header)).collect();
    let names: Vec<CString> = unit.headers.iter().map(|(name, _)| text(name)).collect();
    let pointers = |of: &[CString]| of.iter().map(|text| text.as_ptr()).collect::<Vec<*const c_char>>();
    let (texts, names) = (pointers(&texts), pointers(&names));
    let mut program = std::ptr::null_mut();
    // SAFETY: all texts live until the program is destroyed at the end
    unsafe {
        sys::nvrtcCreateProgram(
            &mut program,
            source.as_ptr(),
            name.as_ptr(),
            texts.len() as i32,
            texts.as_ptr(),
            names.as_ptr(),
        )
    }
    .result()
    .map_err(|cause| failed(cause.to_string()))?;
    let program = Program(program);
    let mut options: Vec<String> = OPTIONS.iter().map(|&option| option.into()).collect();
    options.push(format!("--gpu-architecture={architecture}"));
    options.extend(unit.definitions.iter().map(|(name, value)| format!("--define-macro={name}={value}")));
    // SAFETY: the program is valid
    if let Err(cause) = unsafe { result::compile_program(program.0, &options) } {
        let log = unsafe { result::get_program_log(program.0) }.unwrap_or_default();
        let log: String = log.iter().map(|&letter| char::from(letter as u8)).filter(|&c| c != '\0').collect();
        return Err(failed(format!("{cause}\n{log}")));
    }
    let mut size = 0;
    // SAFETY: the buffer has the size that the compiler reports
    unsafe { sys::nvrtcGetCUBINSize(program.0, &mut size) }
        .result()
        .map_err(|cause| failed(cause.to_string()))?;
    let mut code = vec![0u8; size];
    unsafe { sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()) }
        .result()
        .map_err(|cause| failed(cause.to_string()))?;
    Ok(code)
}
