// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {TaskMessage} from "../ITaskVerifier.sol";
import {TaskClient} from "../TaskClient.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";
import {VaultLedger} from "./VaultLedger.sol";

/// @title Example: a vault that requires a version 1 task, signed by a quorum of attesters, for each deposit
contract TaskGuardedVault is TaskClient, VaultLedger, TwoStepOwner {
    constructor(address initialOwner, address verifier, string memory policyID, uint32 quorum) {
        _setOwner(initialOwner);
        _setTaskPolicy(verifier, policyID, quorum);
    }

    /// @notice Accepts the deposit of the task.
    /// @param message for `data` = the encoded call `_deposit(address)` and `msg_value` = the deposit
    function deposit(address beneficiary, TaskMessage calldata message) external payable {
        _authorizeTask(message, abi.encodeWithSignature("_deposit(address)", beneficiary), msg.sender, msg.value);
        _deposit(beneficiary);
    }

    /// @notice Pays `amount` wei of the caller's balance to `receiver`.
    function withdraw(address receiver, uint256 amount) external {
        _withdraw(receiver, amount);
    }

    /// @notice Changes verifier, policy and quorum together. Owner only.
    function setTaskPolicy(address verifier, string calldata policyID, uint32 quorum) external onlyOwner {
        _setTaskPolicy(verifier, policyID, quorum);
    }
}
