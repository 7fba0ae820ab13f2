// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @notice What a version 1 policy decision was made about.
/// @dev Field order and types are part of the interface: they fix the function selectors and the calldata layout.
struct Task {
    /// @dev Identifier of the task, a version 4 UUID as text.
    string taskId;
    /// @dev The end user: the sender of the guarded call.
    address msgSender;
    /// @dev The guarded contract. The verifier replaces it by its caller before it hashes.
    address target;
    /// @dev Native tokens sent with the guarded call, in wei.
    uint256 value;
    /// @dev The encoded call that was evaluated.
    bytes encodedSigAndArgs;
    /// @dev The project's verification hash.
    string policyID;
    /// @dev How many attesters have to sign.
    uint32 quorumThresholdCount;
    /// @dev Last block number or Unix second in which the task is accepted, as the verifier was set up.
    uint256 expiry;
}

/// @notice The answer of the version 1 task API, as a caller hands it to a guarded contract.
struct TaskMessage {
    string taskId;
    uint256 expiry;
    /// @dev Strictly ascending by numeric value.
    address[] signerAddresses;
    /// @dev `signatures[i]` by `signerAddresses[i]`.
    bytes[] signatures;
}

/// @title Verifier of version 1 tasks, signed by several attesters
interface ITaskVerifier {
    /// @notice What `expiry` counts.
    enum ExpiryUnit {
        BlockNumber,
        Timestamp
    }

    /// @notice A task was accepted and spent.
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
    /// @notice The expiry is further away than any of this unit: it counts seconds, and the verifier counts blocks.
    error TaskExpiryTooFar(uint256 expiry, uint256 current);
    /// @notice The task was spent before.
    error TaskAlreadyUsed(string taskId);
    /// @notice Fewer signatures than the task asks for, none asked for, or not one signature per signer.
    error QuorumNotReached(uint256 required, uint256 signers, uint256 signatures);
    /// @notice Signers must ascend strictly, so that none is counted twice.
    error SignersNotAscending(address previous, address next);
    /// @notice A signer is not registered now.
    error SignerNotRegistered(address signer);
    /// @notice A signature is well formed but is not its signer's over this task.
    error TaskSignatureInvalid(address signer);

    /// @notice Accepts a task once. The caller is the target of the task, whatever the task says.
    /// @dev Checks in this order: expiry, task unspent, quorum, then for each signer order, registration, signature.
    /// Then marks the task as spent. Every signature given is checked, also those beyond the quorum.
    /// @param signerAddresses strictly ascending by numeric value
    /// @param signatures `signatures[i]` by `signerAddresses[i]`: 65 bytes r, s, v over the task's digest
    /// @return isVerified always true: everything else reverts
    function validateSignatures(Task calldata task, address[] calldata signerAddresses, bytes[] calldata signatures)
        external
        returns (bool isVerified);

    /// @notice The digest that attesters sign. No chain id is in it, as version 1 never had one: give each chain
    /// attester keys of its own, or contract addresses of its own.
    function hashTaskWithExpiry(Task calldata task) external pure returns (bytes32 digest);

    /// @notice The digest with the target replaced by the caller: what validateSignatures checks.
    function hashTaskSafe(Task calldata task) external view returns (bytes32 digest);

    /// @notice True once a task with this identifier was accepted.
    function spentTaskIds(string calldata taskId) external view returns (bool isSpent);
}
