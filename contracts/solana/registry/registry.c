// The registry program: stores a deployment's attesters and the policies of programs, and consumes each attestation
// once. An instruction starts with the first 8 bytes of the SHA-256 hash of "global:" and its name, as in Anchor.
#include "attestation.h"
#include "authority.h"
#include "policy.h"

/** The program's heap, initially zeros, for data that is too large for a stack frame. */
static struct call *const CALL = (struct call *)0x300000000;

u64 entrypoint(u8 *input) {
  struct call *call = CALL;
  TRY(read_call(input, call));
  REQUIRE(call->data_length >= 8, ERROR_INVALID_INSTRUCTION_DATA);
  switch (U64_AT(call->data)) {
    case 0xdc4901958f24e8faULL:
      return validate_attestation(call);
    case 0x0549e0d2ad09cd5fULL:
      return cleanup_expired_uuid(call);
    case 0xed9b980d1f6dafafULL:
      return initialize(call);
    case 0x557de4421e7ce96fULL:
      return register_attester(call);
    case 0xc0b68d0aacdadf75ULL:
      return deregister_attester(call);
    case 0xa137b4e5484ca930ULL:
      return transfer_authority(call);
    case 0xa06b0c215bc6566bULL:
      return accept_authority(call);
    case 0x920d223e05264b7aULL:
      return set_policy(call);
    case 0x7087e753012b942eULL:
      return update_policy(call);
    case 0x76345aa483ed0105ULL:
      return set_policy_owner(call);
    default:
      return ERROR_INVALID_INSTRUCTION_DATA;
  }
}
