// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IAttesterRegister} from "./IAttesterRegister.sol";
import {TwoStepOwner} from "./TwoStepOwner.sol";

/// @title List of attesters, managed by an owner
/// @dev ERC-7201 storage, namespace "countersign.storage.AttesterRegister". The cost of additions, removals and
/// lookups does not depend on the number of attesters.
abstract contract AttesterRegister is IAttesterRegister, TwoStepOwner {
    /// @custom:storage-location erc7201:countersign.storage.AttesterRegister
    struct AttesterStorage {
        address[] list;
        /// @dev Position in the list plus one; zero for other addresses.
        mapping(address attester => uint256) places;
    }

    bytes32 private constant ATTESTER_STORAGE = 0x606d4725ef7cb4cd226c224f3e83e0839e480c1a3c37f808e57579c296616d00;

    /// @inheritdoc IAttesterRegister
    function registerAttester(address attester) external onlyOwner {
        if (attester == address(0)) revert AttesterZero();
        AttesterStorage storage store = _attesterStorage();
        if (store.places[attester] != 0) revert AttesterAlreadyRegistered(attester);
        store.list.push(attester);
        store.places[attester] = store.list.length;
        emit AttesterRegistered(attester);
    }

    /// @inheritdoc IAttesterRegister
    function deregisterAttester(address attester) external onlyOwner {
        AttesterStorage storage store = _attesterStorage();
        uint256 place = store.places[attester];
        if (place == 0) revert AttesterUnknown(attester);
        // The last attester moves into the gap, so that the list has no holes.
        address last = store.list[store.list.length - 1];
        store.list[place - 1] = last;
        store.places[last] = place;
        store.list.pop();
        delete store.places[attester];
        emit AttesterDeregistered(attester);
    }

    /// @inheritdoc IAttesterRegister
    function getRegisteredAttesters() external view returns (address[] memory attesters) {
        return _attesterStorage().list;
    }

    /// @inheritdoc IAttesterRegister
    function isAttesterRegistered(address attester) public view returns (bool isRegistered) {
        return _attesterStorage().places[attester] != 0;
    }

    function _attesterStorage() private pure returns (AttesterStorage storage store) {
        bytes32 slot = ATTESTER_STORAGE;
        assembly ("memory-safe") {
            store.slot := slot
        }
    }
}
