// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @notice The subject of a policy decision. The client contract creates it from the pending call.
/// @dev Field order and types are part of the interface: they determine function selectors and calldata layout.
struct Statement {
    /// @dev Identifier of the attestation, a version 4 UUID as text.
    string uuid;
    /// @dev The end user: the sender of the guarded call.
    address msgSender;
    /// @dev The guarded contract. The registry replaces it with its caller before hashing.
    address target;
    /// @dev Native tokens sent with the guarded call, in wei; 0 if only the sender is attested.
    uint256 msgValue;
    /// @dev The evaluated call, encoded; empty if only the sender is attested.
    bytes encodedSigAndArgs;
    /// @dev The client contract's policy identifier (the project's verification hash).
    string policy;
    /// @dev Last second, as Unix time, in which the attestation is accepted.
    uint256 expiration;
}

/// @notice An attester's signature over a statement, as the attestation API returns it.
struct Attestation {
    /// @dev Must equal the field of the statement.
    string uuid;
    /// @dev Must equal the field of the statement.
    uint256 expiration;
    /// @dev The registered attester that signed.
    address attester;
    /// @dev 65 bytes r, s, v over the statement's digest: no message prefix, low s, v 27 or 28.
    bytes signature;
}

/// @title Registry of attesters and policy identifiers that consumes attestations
/// @notice A client contract submits a statement about the pending call. The registry accepts it once, if a registered
/// attester signed exactly this statement for this contract on this chain.
interface IPolicyRegistry {
    /// @notice A client contract set its policy identifier.
    event PolicySet(address indexed client, string policy);

    /// @notice An attestation was accepted and consumed.
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
    /// @notice Statement and attestation have different uuids or expirations.
    error AttestationMismatch();
    /// @notice The uuid was already consumed.
    error UuidAlreadyUsed(string uuid);
    /// @notice The attestation names an attester that is not registered.
    error AttesterNotRegistered(address attester);
    /// @notice The signature is well formed, but the named attester did not sign this statement.
    error SignatureInvalid();

    /// @notice Sets the caller's own policy identifier. The attestation service reads it to find the policy.
    /// @param policyID the project's verification hash; empty removes the binding
    function setPolicyID(string calldata policyID) external;

    /// @notice The policy identifier of `client`; empty if it set none.
    function getPolicyID(address client) external view returns (string memory policyID);

    /// @notice Accepts an attestation once. Replaces the target of the statement with the caller.
    /// @dev Checks in this order: expiration, equality of statement and attestation, uuid not consumed, attester
    /// registered, signature. Then marks the uuid as consumed. Reverts at the first failed check.
    /// @return isVerified always true, because any failure reverts
    function validateAttestation(Statement calldata statement, Attestation calldata attestation)
        external
        returns (bool isVerified);

    /// @notice The digest that an attester signs: this chain's id, then the fields of the statement.
    /// @return digest keccak256 of abi.encode(chain id, uuid, msgSender, target, msgValue, encodedSigAndArgs, policy,
    /// expiration)
    function hashStatementWithExpiry(Statement calldata statement) external view returns (bytes32 digest);

    /// @notice The digest that validateAttestation checks, with the target replaced with the caller.
    function hashStatementSafe(Statement calldata statement) external view returns (bytes32 digest);

    /// @notice True if an attestation with this uuid was accepted.
    function usedStatementUUIDs(string calldata uuid) external view returns (bool isUsed);
}
