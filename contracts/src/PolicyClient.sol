// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "./IPolicyRegistry.sol";
import {PolicyClientBase} from "./PolicyClientBase.sol";

/// @title Mixin for contracts whose policy evaluates the whole call: sender, value, function and arguments
/// @notice The backend sends `to`, `from`, `chain`, `data` and `msg_value` to the attestation API. `data` must equal
/// the contract's `encodedSigAndArgs`.
abstract contract PolicyClient is PolicyClientBase {
    /// @notice Call first in every guarded function. Reverts unless the attestation is valid for exactly this call.
    /// @param attestation the attestation from the attestation API
    /// @param encodedSigAndArgs the evaluated call: by convention, the internal function with its arguments, without
    /// the attestation
    /// @param msgSender the end user, normally msg.sender
    /// @param msgValue the native tokens sent with the call, normally msg.value
    /// @return isAuthorized always true, because any failure reverts
    function _authorizeTransaction(
        Attestation memory attestation,
        bytes memory encodedSigAndArgs,
        address msgSender,
        uint256 msgValue
    ) internal returns (bool isAuthorized) {
        return _validate(attestation, msgSender, msgValue, encodedSigAndArgs);
    }
}
