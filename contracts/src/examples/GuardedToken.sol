// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "../IPolicyRegistry.sol";
import {PolicyClient} from "../PolicyClient.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";
import {TokenLedger} from "./TokenLedger.sol";

/// @title Example: a token whose policy evaluates sender, receiver and amount of each transfer
contract GuardedToken is PolicyClient, TokenLedger, TwoStepOwner {
    constructor(address initialOwner, address registry, string memory policyID, uint256 supply)
        TokenLedger("Guarded example", "GRD", initialOwner, supply)
    {
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Makes the attested transfer.
    /// @param attestation for `data` = the encoded call `_transfer(address,uint256)`
    function transfer(address to, uint256 amount, Attestation calldata attestation) external {
        _authorizeTransaction(
            attestation, abi.encodeWithSignature("_transfer(address,uint256)", to, amount), msg.sender, 0
        );
        _transfer(to, amount);
    }

    function setPolicyID(string calldata policyID) external onlyOwner {
        _setPolicyID(policyID);
    }

    function setRegistry(address registry) external onlyOwner {
        _setRegistry(registry);
    }
}
