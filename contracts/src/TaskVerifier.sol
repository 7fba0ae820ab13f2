// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {AttestationSignature} from "./AttestationSignature.sol";
import {AttesterRegister} from "./AttesterRegister.sol";
import {ITaskVerifier, Task} from "./ITaskVerifier.sol";

/// @title Task verifier with a quorum of attesters
contract TaskVerifier is ITaskVerifier, AttesterRegister {
    /// @notice Unit of `expiry`.
    /// @dev Use Timestamp if `block.number` differs from the height that the chain's RPC reports (on Arbitrum and other
    /// Orbit chains, it is the parent chain's height): a height from the RPC would never be reached.
    ExpiryUnit public immutable expiryUnit;

    /// @dev Twice the maximum number of blocks that the service adds to the height. A task contains no chain id:
    /// without this limit, a task with seconds would never expire at the same address on a chain that counts blocks.
    uint256 private constant _MAX_EXPIRY_DISTANCE = 2_000_000;

    /// @dev Keyed by the Keccak-256 hash of the task id's text.
    mapping(bytes32 taskIdHash => bool) private _spent;

    /// @param initialOwner registers attesters
    /// @param unit must match how the service expresses expiries for this chain
    constructor(address initialOwner, ExpiryUnit unit) {
        _setOwner(initialOwner);
        expiryUnit = unit;
    }

    /// @inheritdoc ITaskVerifier
    function spentTaskIds(string calldata taskId) external view returns (bool isSpent) {
        return _spent[keccak256(bytes(taskId))];
    }

    /// @inheritdoc ITaskVerifier
    function hashTaskWithExpiry(Task calldata task) external pure returns (bytes32 digest) {
        return _digest(task, task.target);
    }

    /// @inheritdoc ITaskVerifier
    function hashTaskSafe(Task calldata task) external view returns (bytes32 digest) {
        return _digest(task, msg.sender);
    }

    /// @inheritdoc ITaskVerifier
    function validateSignatures(Task calldata task, address[] calldata signerAddresses, bytes[] calldata signatures)
        external
        returns (bool isVerified)
    {
        uint256 current = expiryUnit == ExpiryUnit.BlockNumber ? block.number : block.timestamp;
        if (current > task.expiry) revert TaskExpired(task.expiry, current);
        if (task.expiry - current > _MAX_EXPIRY_DISTANCE) revert TaskExpiryTooFar(task.expiry, current);
        bytes32 taskIdHash = keccak256(bytes(task.taskId));
        if (_spent[taskIdHash]) revert TaskAlreadyUsed(task.taskId);
        uint256 required = task.quorumThresholdCount;
        if (required == 0 || signerAddresses.length < required || signerAddresses.length != signatures.length) {
            revert QuorumNotReached(required, signerAddresses.length, signatures.length);
        }
        _checkSigners(_digest(task, msg.sender), signerAddresses, signatures);
        _spent[taskIdHash] = true;
        _announce(task, signerAddresses);
        return true;
    }

    /// @dev A separate function, because the stack has too few slots for all variables.
    function _announce(Task calldata task, address[] calldata signerAddresses) private {
        emit TaskValidated(
            task.msgSender,
            msg.sender,
            task.value,
            task.policyID,
            task.taskId,
            task.quorumThresholdCount,
            task.expiry,
            signerAddresses
        );
    }

    function _checkSigners(bytes32 digest, address[] calldata signers, bytes[] calldata signatures) private view {
        // Starts at zero, so the zero address can't be a signer either.
        address previous;
        for (uint256 i = 0; i < signers.length; ++i) {
            address signer = signers[i];
            if (signer <= previous) revert SignersNotAscending(previous, signer);
            if (!isAttesterRegistered(signer)) revert SignerNotRegistered(signer);
            if (AttestationSignature.recover(digest, signatures[i]) != signer) revert TaskSignatureInvalid(signer);
            previous = signer;
        }
    }

    function _digest(Task calldata task, address target) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                task.taskId,
                task.msgSender,
                target,
                task.value,
                task.encodedSigAndArgs,
                task.policyID,
                task.quorumThresholdCount,
                task.expiry
            )
        );
    }
}
