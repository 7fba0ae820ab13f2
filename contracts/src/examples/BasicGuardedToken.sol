// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {BasicPolicyClient} from "../BasicPolicyClient.sol";
import {Attestation} from "../IPolicyRegistry.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";
import {TokenLedger} from "./TokenLedger.sol";

/// @title Example: a token whose policy evaluates only the sender
contract BasicGuardedToken is BasicPolicyClient, TokenLedger, TwoStepOwner {
    constructor(address initialOwner, address registry, string memory policyID, uint256 supply)
        TokenLedger("Basic guarded example", "BGRD", initialOwner, supply)
    {
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Transfers tokens of an attested sender.
    /// @param attestation for this contract and the sender, without `data` and `msg_value`
    function transfer(address to, uint256 amount, Attestation calldata attestation) external {
        _authorizeTransaction(attestation, msg.sender);
        _transfer(to, amount);
    }

    function setPolicyID(string calldata policyID) external onlyOwner {
        _setPolicyID(policyID);
    }

    function setRegistry(address registry) external onlyOwner {
        _setRegistry(registry);
    }
}
