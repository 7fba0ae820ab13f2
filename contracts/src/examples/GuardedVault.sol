// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "../IPolicyRegistry.sol";
import {PolicyClient} from "../PolicyClient.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";
import {VaultLedger} from "./VaultLedger.sol";

/// @title Example: a vault whose policy evaluates the parties and amounts of deposits and withdrawals
contract GuardedVault is PolicyClient, VaultLedger, TwoStepOwner {
    constructor(address initialOwner, address registry, string memory policyID) {
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Accepts the attested deposit.
    /// @param attestation for `data` = the encoded call `_deposit(address)` and `msg_value` = the deposit
    function deposit(address beneficiary, Attestation calldata attestation) external payable {
        _authorizeTransaction(
            attestation, abi.encodeWithSignature("_deposit(address)", beneficiary), msg.sender, msg.value
        );
        _deposit(beneficiary);
    }

    /// @notice Pays the attested withdrawal.
    /// @param attestation for `data` = the encoded call `_withdraw(address,uint256)`
    function withdraw(address receiver, uint256 amount, Attestation calldata attestation) external {
        _authorizeTransaction(
            attestation, abi.encodeWithSignature("_withdraw(address,uint256)", receiver, amount), msg.sender, 0
        );
        _withdraw(receiver, amount);
    }

    function setPolicyID(string calldata policyID) external onlyOwner {
        _setPolicyID(policyID);
    }

    function setRegistry(address registry) external onlyOwner {
        _setRegistry(registry);
    }
}
