// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IPolicyClient} from "./IPolicyClient.sol";
import {Attestation, IPolicyRegistry, Statement} from "./IPolicyRegistry.sol";

/// @title Base of both client mixins: registry and policy
/// @dev ERC-7201 storage, namespace "countersign.storage.PolicyClient", so that the mixin can be added to an
/// upgradeable contract without moving its state.
abstract contract PolicyClientBase is IPolicyClient {
    /// @custom:storage-location erc7201:countersign.storage.PolicyClient
    struct ClientStorage {
        IPolicyRegistry registry;
        string policyID;
    }

    bytes32 private constant CLIENT_STORAGE = 0x3010d494898b32205bc551020c7aeb74916f46463fc34ee9283f8f2919c44200;

    /// @inheritdoc IPolicyClient
    function getPolicyID() external view returns (string memory policyID) {
        return _clientStorage().policyID;
    }

    /// @inheritdoc IPolicyClient
    function getRegistry() external view returns (address registry) {
        return address(_clientStorage().registry);
    }

    /// @dev Call once, from the constructor or initializer.
    function _initPolicyClient(address registry, string memory policyID) internal {
        _clientStorage().registry = IPolicyRegistry(registry);
        emit PolicyRegistryUpdated(address(0), registry);
        _setPolicyID(policyID);
    }

    /// @dev Also sets the policy in the registry, where the attestation service reads it.
    function _setPolicyID(string memory policyID) internal {
        ClientStorage storage store = _clientStorage();
        emit PolicyIDUpdated(store.policyID, policyID);
        store.policyID = policyID;
        store.registry.setPolicyID(policyID);
    }

    /// @dev Sets the policy in the new registry in the same transaction, so that both agree. Consumed uuids stay in the
    /// old registry, so the new registry accepts an unexpired attestation once more.
    function _setRegistry(address registry) internal {
        ClientStorage storage store = _clientStorage();
        emit PolicyRegistryUpdated(address(store.registry), registry);
        store.registry = IPolicyRegistry(registry);
        store.registry.setPolicyID(store.policyID);
    }

    /// @dev Uuid and expiration come from the attestation; all other fields, from the calling contract.
    function _validate(
        Attestation memory attestation,
        address msgSender,
        uint256 msgValue,
        bytes memory encodedSigAndArgs
    ) internal returns (bool isVerified) {
        ClientStorage storage store = _clientStorage();
        isVerified = store.registry.validateAttestation(
            Statement({
                uuid: attestation.uuid,
                msgSender: msgSender,
                target: address(this),
                msgValue: msgValue,
                encodedSigAndArgs: encodedSigAndArgs,
                policy: store.policyID,
                expiration: attestation.expiration
            }),
            attestation
        );
        // With any registry, a caller that ignores the result is safe too.
        if (!isVerified) revert AttestationRefused();
    }

    function _clientStorage() private pure returns (ClientStorage storage store) {
        bytes32 slot = CLIENT_STORAGE;
        assembly ("memory-safe") {
            store.slot := slot
        }
    }
}
