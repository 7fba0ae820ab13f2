// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "./IPolicyRegistry.sol";
import {PolicyClientBase} from "./PolicyClientBase.sol";

/// @title Mixin for contracts whose policy looks at the sender only
/// @notice The backend sends `to`, `from` and `chain` to the attestation API. The attestation is then good for one call
/// of any guarded function of this contract, with any arguments and any value.
abstract contract BasicPolicyClient is PolicyClientBase {
    /// @notice Call first in every guarded function. Reverts unless the attestation is good for this sender.
    /// @param attestation as the attestation API returned it
    /// @param msgSender the end user, normally msg.sender
    /// @return isAuthorized always true: everything else reverts
    function _authorizeTransaction(Attestation memory attestation, address msgSender)
        internal
        returns (bool isAuthorized)
    {
        return _validate(attestation, msgSender, 0, "");
    }
}
