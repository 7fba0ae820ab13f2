//! Calls the registry from a guarded program in Rust without Anchor.
use solana_program::{
    account_info::AccountInfo,
    entrypoint::ProgramResult,
    instruction::{AccountMeta, Instruction},
    program::invoke,
    program_error::ProgramError,
    pubkey::Pubkey,
};

/// Fails the transaction unless the registry accepts the attestation. `accounts`: the seven accounts of
/// validate_attestation in order, then the registry program. `attestation`: uuid (16), attester (32), signature (64), expiration (8).
pub fn require_attestation(
    registry: &Pubkey,
    this_program: &Pubkey,
    lamports: u64,
    call_data: &[u8],
    attestation: &[u8; 120],
    accounts: &[AccountInfo],
) -> ProgramResult {
    if accounts.len() < 8 || accounts[7].key != registry {
        return Err(ProgramError::NotEnoughAccountKeys);
    }
    let mut data = vec![0xfa, 0xe8, 0x24, 0x8f, 0x95, 0x01, 0x49, 0xdc];
    data.extend_from_slice(this_program.as_ref());
    data.extend_from_slice(&lamports.to_le_bytes());
    data.extend_from_slice(&(call_data.len() as u32).to_le_bytes());
    data.extend_from_slice(call_data);
    data.extend_from_slice(attestation);
    let accounts_used = (0..7)
        .map(|at| AccountMeta {
            pubkey: *accounts[at].key,
            is_signer: at == 4,
            is_writable: accounts[at].is_writable,
        })
        .collect();
    invoke(&Instruction { program_id: *registry, accounts: accounts_used, data }, accounts)
}
