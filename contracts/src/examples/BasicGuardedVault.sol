// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {BasicPolicyClient} from "../BasicPolicyClient.sol";
import {Attestation} from "../IPolicyRegistry.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";
import {VaultLedger} from "./VaultLedger.sol";

/// @title Example: a vault whose policy evaluates only the depositor. Withdrawals need no attestation
contract BasicGuardedVault is BasicPolicyClient, VaultLedger, TwoStepOwner {
    constructor(address initialOwner, address registry, string memory policyID) {
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Accepts a deposit of an attested sender.
    /// @param attestation for this contract and the sender, without `data` and `msg_value`
    function deposit(address beneficiary, Attestation calldata attestation) external payable {
        _authorizeTransaction(attestation, msg.sender);
        _deposit(beneficiary);
    }

    /// @notice Pays `amount` wei of the caller's balance to `receiver`.
    function withdraw(address receiver, uint256 amount) external {
        _withdraw(receiver, amount);
    }

    function setPolicyID(string calldata policyID) external onlyOwner {
        _setPolicyID(policyID);
    }

    function setRegistry(address registry) external onlyOwner {
        _setRegistry(registry);
    }
}
