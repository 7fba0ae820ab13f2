// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {AttestationSignature} from "./AttestationSignature.sol";
import {AttesterRegister} from "./AttesterRegister.sol";
import {Attestation, IPolicyRegistry, Statement} from "./IPolicyRegistry.sol";

/// @title Common code of all policy registries
/// @dev ERC-7201 storage, namespace "countersign.storage.PolicyRegistry". The deployable contracts add only the
/// assignment of the first owner.
abstract contract PolicyRegistryCore is IPolicyRegistry, AttesterRegister {
    /// @custom:storage-location erc7201:countersign.storage.PolicyRegistry
    struct RegistryStorage {
        mapping(address client => string) policies;
        /// @dev Keyed by the Keccak-256 hash of the uuid's text.
        mapping(bytes32 uuidHash => bool) spent;
    }

    bytes32 private constant REGISTRY_STORAGE = 0xd5021885269c23a4feb217e7a54a864d249c87cf1825efdf2064dc5c013b0e00;

    /// @inheritdoc IPolicyRegistry
    function setPolicyID(string calldata policyID) external {
        _registryStorage().policies[msg.sender] = policyID;
        emit PolicySet(msg.sender, policyID);
    }

    /// @inheritdoc IPolicyRegistry
    function getPolicyID(address client) external view returns (string memory policyID) {
        return _registryStorage().policies[client];
    }

    /// @inheritdoc IPolicyRegistry
    function usedStatementUUIDs(string calldata uuid) external view returns (bool isUsed) {
        return _registryStorage().spent[keccak256(bytes(uuid))];
    }

    /// @inheritdoc IPolicyRegistry
    function hashStatementWithExpiry(Statement calldata statement) external view returns (bytes32 digest) {
        return _digest(statement, statement.target);
    }

    /// @inheritdoc IPolicyRegistry
    function hashStatementSafe(Statement calldata statement) external view returns (bytes32 digest) {
        return _digest(statement, msg.sender);
    }

    /// @inheritdoc IPolicyRegistry
    function validateAttestation(Statement calldata statement, Attestation calldata attestation)
        external
        returns (bool isVerified)
    {
        if (block.timestamp > attestation.expiration) {
            revert AttestationExpired(attestation.expiration, block.timestamp);
        }
        bytes32 uuidHash = keccak256(bytes(statement.uuid));
        if (attestation.expiration != statement.expiration || keccak256(bytes(attestation.uuid)) != uuidHash) {
            revert AttestationMismatch();
        }
        RegistryStorage storage store = _registryStorage();
        if (store.spent[uuidHash]) revert UuidAlreadyUsed(statement.uuid);
        address attester = attestation.attester;
        if (!isAttesterRegistered(attester)) revert AttesterNotRegistered(attester);
        // A registered attester is never the zero address, which recovery returns if no key matches.
        if (AttestationSignature.recover(_digest(statement, msg.sender), attestation.signature) != attester) {
            revert SignatureInvalid();
        }
        store.spent[uuidHash] = true;
        emit StatementValidated(
            statement.msgSender,
            msg.sender,
            attester,
            statement.msgValue,
            statement.policy,
            statement.uuid,
            statement.expiration
        );
        return true;
    }

    /// @dev The chain id binds an attestation to its chain; the target binds it to its contract.
    function _digest(Statement calldata statement, address target) private view returns (bytes32) {
        return keccak256(
            abi.encode(
                block.chainid,
                statement.uuid,
                statement.msgSender,
                target,
                statement.msgValue,
                statement.encodedSigAndArgs,
                statement.policy,
                statement.expiration
            )
        );
    }

    function _registryStorage() private pure returns (RegistryStorage storage store) {
        bytes32 slot = REGISTRY_STORAGE;
        assembly ("memory-safe") {
            store.slot := slot
        }
    }
}
