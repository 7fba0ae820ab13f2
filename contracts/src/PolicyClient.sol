// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "./IPolicyRegistry.sol";
import {PolicyClientBase} from "./PolicyClientBase.sol";

/// @title Mixin for contracts whose policy looks at the whole call: sender, value, function and arguments
/// @notice The backend sends `to`, `from`, `chain`, `data` and `msg_value` to the attestation API, where `data` is
/// byte for byte what the contract passes as `encodedSigAndArgs`.
abstract contract PolicyClient is PolicyClientBase {
    /// @notice Call first in every guarded function. Reverts unless the attestation is good for exactly this call.
    /// @param attestation as the attestation API returned it
    /// @param encodedSigAndArgs the evaluated call: by convention the internal function that does the work, encoded
    /// with its arguments, so that the attestation itself is not part of it
    /// @param msgSender the end user, normally msg.sender
    /// @param msgValue the native tokens that came with the call, normally msg.value
    /// @return isAuthorized always true: everything else reverts
    function _authorizeTransaction(
        Attestation memory attestation,
        bytes memory encodedSigAndArgs,
        address msgSender,
        uint256 msgValue
    ) internal returns (bool isAuthorized) {
        return _validate(attestation, msgSender, msgValue, encodedSigAndArgs);
    }
}
