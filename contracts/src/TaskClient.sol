// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ITaskVerifier, Task, TaskMessage} from "./ITaskVerifier.sol";

/// @title Mixin for contracts that require version 1 tasks
/// @notice The quorum here must be the one in the project's policy, since attesters sign it.
/// @dev ERC-7201 storage, namespace "countersign.storage.TaskClient".
abstract contract TaskClient {
    /// @custom:storage-location erc7201:countersign.storage.TaskClient
    struct TaskClientStorage {
        ITaskVerifier verifier;
        uint32 quorum;
        string policyID;
    }

    bytes32 private constant TASK_CLIENT_STORAGE = 0xfb281029d1e6f3fc3b69e9295abdfeb0fb1b09b3d3bec76c91084d47a66f2d00;

    /// @notice Tasks have to be for this policy and quorum, checked by this verifier, from now on.
    event TaskPolicyUpdated(address indexed verifier, string policyID, uint32 quorum);

    /// @notice The verifier answered that it does not accept the task. Ours reverts instead.
    error TaskRefused();

    /// @notice What tasks have to be for, and which contract checks them.
    function getTaskPolicy() external view returns (address verifier, string memory policyID, uint32 quorum) {
        TaskClientStorage storage store = _taskClientStorage();
        return (address(store.verifier), store.policyID, store.quorum);
    }

    /// @dev For the constructor, and for setters with access control.
    function _setTaskPolicy(address verifier, string memory policyID, uint32 quorum) internal {
        TaskClientStorage storage store = _taskClientStorage();
        store.verifier = ITaskVerifier(verifier);
        store.policyID = policyID;
        store.quorum = quorum;
        emit TaskPolicyUpdated(verifier, policyID, quorum);
    }

    /// @notice Call first in every guarded function. Reverts unless a quorum of attesters signed exactly this call.
    /// @param encodedSigAndArgs byte for byte what the backend sent as `data`
    /// @return isAuthorized always true: everything else reverts
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
        // A caller that does not look at the result is safe all the same, with any verifier.
        if (!isAuthorized) revert TaskRefused();
    }

    function _taskClientStorage() private pure returns (TaskClientStorage storage store) {
        bytes32 slot = TASK_CLIENT_STORAGE;
        assembly ("memory-safe") {
            store.slot := slot
        }
    }
}
