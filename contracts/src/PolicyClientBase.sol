// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IPolicyClient} from "./IPolicyClient.sol";
import {Attestation, IPolicyRegistry, Statement} from "./IPolicyRegistry.sol";

/// @title What both client mixins share: which registry, which policy
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

    /// @dev The registry is told as well, since the attestation service looks the policy up there.
    function _setPolicyID(string memory policyID) internal {
        ClientStorage storage store = _clientStorage();
        emit PolicyIDUpdated(store.policyID, policyID);
        store.policyID = policyID;
        store.registry.setPolicyID(policyID);
    }

    /// @dev The new registry learns the policy in the same transaction, so that the two never disagree. Used uuids stay
    /// in the old registry: an attestation that has not expired is accepted once more by the new one.
    function _setRegistry(address registry) internal {
        ClientStorage storage store = _clientStorage();
        emit PolicyRegistryUpdated(address(store.registry), registry);
        store.registry = IPolicyRegistry(registry);
        store.registry.setPolicyID(store.policyID);
    }

    /// @dev Uuid and expiration come from the attestation, everything else from the calling contract.
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
        // A caller that does not look at the result is safe all the same, with any registry.
        if (!isVerified) revert AttestationRefused();
    }

    function _clientStorage() private pure returns (ClientStorage storage store) {
        bytes32 slot = CLIENT_STORAGE;
        assembly ("memory-safe") {
            store.slot := slot
        }
    }
}
