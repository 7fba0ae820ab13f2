// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Strict recovery of a secp256k1 signer
/// @notice Each signature has exactly one accepted encoding: 65 bytes, s in the lower half of the group order, v 27 or
/// 28. The compact encoding of ERC-2098 is rejected.
library AttestationSignature {
    /// @dev Half of the order of secp256k1, rounded down.
    uint256 private constant HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    /// @notice Wrong length, s in the upper half, or v other than 27 or 28.
    error SignatureMalformed();

    /// @param digest the signed 32 bytes, without a message prefix
    /// @param signature r, s, v
    /// @return signer the zero address if no key matches: compare with an address that can't be zero
    function recover(bytes32 digest, bytes calldata signature) internal pure returns (address signer) {
        if (signature.length != 65) revert SignatureMalformed();
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        uint8 v = uint8(signature[64]);
        if (uint256(s) > HALF_ORDER || (v != 27 && v != 28)) revert SignatureMalformed();
        return ecrecover(digest, v, r, s);
    }
}
