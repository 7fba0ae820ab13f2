// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @notice What a policy decision was made about. The client contract fills it in from what it is about to do.
/// @dev Field order and types are part of the interface: they fix the function selectors and the calldata layout.
struct Statement {
    /// @dev Identifier of the attestation, a version 4 UUID as text.
    string uuid;
    /// @dev The end user: the sender of the guarded call.
    address msgSender;
    /// @dev The guarded contract. The registry replaces it by its caller before it hashes.
    address target;
    /// @dev Native tokens sent with the guarded call, in wei; 0 where only the sender is attested.
    uint256 msgValue;
    /// @dev The encoded call that was evaluated; empty where only the sender is attested.
    bytes encodedSigAndArgs;
    /// @dev The client contract's policy identifier (the project's verification hash).
    string policy;
    /// @dev Last second, as Unix time, in which the attestation is accepted.
    uint256 expiration;
}

/// @notice An attester's signature over a statement, as the attestation API returns it.
struct Attestation {
    /// @dev Must equal the statement's.
    string uuid;
    /// @dev Must equal the statement's.
    uint256 expiration;
    /// @dev The registered attester that signed.
    address attester;
    /// @dev 65 bytes r, s, v over the statement's digest: no message prefix, low s, v 27 or 28.
    bytes signature;
}

/// @title Registry of attesters and policy identifiers that spends attestations
/// @notice A client contract states what it is about to do; the registry accepts that once, if a registered attester
/// signed exactly that statement for exactly that contract on this chain.
interface IPolicyRegistry {
    /// @notice A client contract set the policy identifier that it wants to be evaluated with.
    event PolicySet(address indexed client, string policy);

    /// @notice An attestation was accepted and spent.
    event StatementValidated(
        address indexed msgSender,
        address indexed target,
        address indexed attester,
        uint256 msgValue,
        string policy,
        string uuid,
        uint256 expiration
    );

    /// @notice The attestation's last second has passed.
    error AttestationExpired(uint256 expiration, uint256 timestamp);
    /// @notice Statement and attestation name different uuids or expirations.
    error AttestationMismatch();
    /// @notice The uuid was spent before.
    error UuidAlreadyUsed(string uuid);
    /// @notice The attestation names an attester that is not registered now.
    error AttesterNotRegistered(address attester);
    /// @notice The signature is well formed but is not the named attester's over this statement.
    error SignatureInvalid();

    /// @notice Sets the caller's own policy identifier. The attestation service reads it to find the policy.
    /// @param policyID the project's verification hash; empty removes the binding
    function setPolicyID(string calldata policyID) external;

    /// @notice The policy identifier that `client` set, empty if none.
    function getPolicyID(address client) external view returns (string memory policyID);

    /// @notice Accepts an attestation once. The caller is the target of the statement, whatever the statement says.
    /// @dev Checks in this order: expiration, agreement of statement and attestation, uuid unspent, attester
    /// registered, signature. Then marks the uuid as spent. Reverts on the first check that fails.
    /// @return isVerified always true: everything else reverts
    function validateAttestation(Statement calldata statement, Attestation calldata attestation)
        external
        returns (bool isVerified);

    /// @notice The digest that an attester signs: the statement's fields with this chain's id before them.
    /// @return digest keccak256 of abi.encode(chain id, uuid, msgSender, target, msgValue, encodedSigAndArgs, policy,
    /// expiration)
    function hashStatementWithExpiry(Statement calldata statement) external view returns (bytes32 digest);

    /// @notice The digest with the target replaced by the caller: what validateAttestation checks.
    function hashStatementSafe(Statement calldata statement) external view returns (bytes32 digest);

    /// @notice True once an attestation with this uuid was accepted.
    function usedStatementUUIDs(string calldata uuid) external view returns (bool isUsed);
}
