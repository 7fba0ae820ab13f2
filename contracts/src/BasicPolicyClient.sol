// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "./IPolicyRegistry.sol";
import {PolicyClientBase} from "./PolicyClientBase.sol";

/// @title Mixin for contracts whose policy evaluates only the sender
/// @notice The backend sends `to`, `from` and `chain` to the attestation API. The attestation is then valid for one
/// call to any guarded function of this contract, with any arguments and any value.
abstract contract BasicPolicyClient is PolicyClientBase {
    /// @notice Call first in every guarded function. Reverts unless the attestation is valid for this sender.
    /// @param attestation the attestation from the attestation API
    /// @param msgSender the end user, normally msg.sender
    /// @return isAuthorized always true, because any failure reverts
    function _authorizeTransaction(Attestation memory attestation, address msgSender)
        internal
        returns (bool isAuthorized)
    {
        return _validate(attestation, msgSender, 0, "");
    }
}
