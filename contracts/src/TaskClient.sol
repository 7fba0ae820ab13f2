// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ITaskVerifier, Task, TaskMessage} from "./ITaskVerifier.sol";

/// @title Mixin for contracts that require version 1 tasks
/// @notice The quorum must equal the quorum in the project's policy, because attesters sign it.
/// @dev ERC-7201 storage, namespace "countersign.storage.TaskClient".
abstract contract TaskClient {
    /// @custom:storage-location erc7201:countersign.storage.TaskClient
    struct TaskClientStorage {
        ITaskVerifier verifier;
        uint32 quorum;
        string policyID;
    }

    bytes32 private constant TASK_CLIENT_STORAGE = 0xfb281029d1e6f3fc3b69e9295abdfeb0fb1b09b3d3bec76c91084d47a66f2d00;

    /// @notice The verifier, policy or quorum was changed.
    event TaskPolicyUpdated(address indexed verifier, string policyID, uint32 quorum);

    /// @notice The verifier returned false. Countersign's verifier reverts instead.
    error TaskRefused();

    /// @notice Required policy and quorum of tasks, and the contract that checks them.
    function getTaskPolicy() external view returns (address verifier, string memory policyID, uint32 quorum) {
        TaskClientStorage storage store = _taskClientStorage();
        return (address(store.verifier), store.policyID, store.quorum);
    }

    /// @dev Call from the constructor, and from setters with access control.
    function _setTaskPolicy(address verifier, string memory policyID, uint32 quorum) internal {
        TaskClientStorage storage store = _taskClientStorage();
        store.verifier = ITaskVerifier(verifier);
        store.policyID = policyID;
        store.quorum = quorum;
        emit TaskPolicyUpdated(verifier, policyID, quorum);
    }

    /// @notice Call first in every guarded function. Reverts unless a quorum of attesters signed exactly this call.
    /// @param encodedSigAndArgs must equal the backend's `data`
    /// @return isAuthorized always true, because any failure reverts
    function _authorizeTask(
        TaskMessage calldata message,
        bytes memory encodedSigAndArgs,
        address msgSender,
        uint256 msgValue
    ) internal returns (bool isAuthorized) {
        TaskClientStorage storage store = _taskClientStorage();
        isAuthorized = store.verifier.validateSignatures(
            Task({
                taskId: message.taskId,
                msgSender: msgSender,
                target: address(this),
                value: msgValue,
                encodedSigAndArgs: encodedSigAndArgs,
                policyID: store.policyID,
                quorumThresholdCount: store.quorum,
                expiry: message.expiry
            }),
            message.signerAddresses,
            message.signatures
        );
        // With any verifier, a caller that ignores the result is safe too.
        if (!isAuthorized) revert TaskRefused();
    }

    function _taskClientStorage() private pure returns (TaskClientStorage storage store) {
        bytes32 slot = TASK_CLIENT_STORAGE;
        assembly ("memory-safe") {
            store.slot := slot
        }
    }
}
