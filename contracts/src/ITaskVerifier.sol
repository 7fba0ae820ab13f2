// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @notice The subject of a version 1 policy decision.
/// @dev Field order and types are part of the interface: they determine function selectors and calldata layout.
struct Task {
    /// @dev Identifier of the task, a version 4 UUID as text.
    string taskId;
    /// @dev The end user: the sender of the guarded call.
    address msgSender;
    /// @dev The guarded contract. The verifier replaces it with its caller before hashing.
    address target;
    /// @dev Native tokens sent with the guarded call, in wei.
    uint256 value;
    /// @dev The evaluated call, encoded.
    bytes encodedSigAndArgs;
    /// @dev The project's verification hash.
    string policyID;
    /// @dev Required number of attesters.
    uint32 quorumThresholdCount;
    /// @dev Last block number or Unix second in which the task is accepted; the verifier determines the unit.
    uint256 expiry;
}

/// @notice The answer of the version 1 task API, as an argument of a guarded contract.
struct TaskMessage {
    string taskId;
    uint256 expiry;
    /// @dev Strictly ascending by numeric value.
    address[] signerAddresses;
    /// @dev `signatures[i]` is by `signerAddresses[i]`.
    bytes[] signatures;
}

/// @title Verifier of version 1 tasks, signed by several attesters
interface ITaskVerifier {
    /// @notice Unit of `expiry`.
    enum ExpiryUnit {
        BlockNumber,
        Timestamp
    }

    /// @notice A task was accepted and consumed.
    event TaskValidated(
        address indexed msgSender,
        address indexed target,
        uint256 value,
        string policyID,
        string taskId,
        uint256 quorumThresholdCount,
        uint256 expiry,
        address[] signers
    );

    /// @notice The task's last block or second has passed.
    error TaskExpired(uint256 expiry, uint256 current);
    /// @notice The expiry is too far away for this unit: it is in seconds, and the verifier counts blocks.
    error TaskExpiryTooFar(uint256 expiry, uint256 current);
    /// @notice The task was already consumed.
    error TaskAlreadyUsed(string taskId);
    /// @notice Fewer signatures than the task requires, a quorum of zero, or a signer without exactly one signature.
    error QuorumNotReached(uint256 required, uint256 signers, uint256 signatures);
    /// @notice Signers must be strictly ascending, so that none counts twice.
    error SignersNotAscending(address previous, address next);
    /// @notice A signer is not registered.
    error SignerNotRegistered(address signer);
    /// @notice A signature is well formed, but its signer did not sign this task.
    error TaskSignatureInvalid(address signer);

    /// @notice Accepts a task once. Replaces the target of the task with the caller.
    /// @dev Checks in this order: expiry, task not consumed, quorum, then for each signer order, registration,
    /// signature. Then marks the task as consumed. Checks every signature, even those beyond the quorum.
    /// @param signerAddresses strictly ascending by numeric value
    /// @param signatures `signatures[i]` is by `signerAddresses[i]`: 65 bytes r, s, v over the task's digest
    /// @return isVerified always true, because any failure reverts
    function validateSignatures(Task calldata task, address[] calldata signerAddresses, bytes[] calldata signatures)
        external
        returns (bool isVerified);

    /// @notice The digest that attesters sign. It contains no chain id: use separate attester keys or separate contract
    /// addresses on each chain.
    function hashTaskWithExpiry(Task calldata task) external pure returns (bytes32 digest);

    /// @notice The digest that validateSignatures checks, with the target replaced with the caller.
    function hashTaskSafe(Task calldata task) external view returns (bytes32 digest);

    /// @notice True if a task with this identifier was accepted.
    function spentTaskIds(string calldata taskId) external view returns (bool isSpent);
}
