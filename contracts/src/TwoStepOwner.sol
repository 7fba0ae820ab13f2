// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Ownership with two-step transfer
/// @notice The new owner must accept, so ownership can't be lost to an address that nobody controls. Ownership can't be
/// renounced: a registry without an owner could never remove an attester.
/// @dev ERC-7201 storage, namespace "countersign.storage.TwoStepOwner", for use behind a proxy and with the state of
/// any other contract.
abstract contract TwoStepOwner {
    /// @custom:storage-location erc7201:countersign.storage.TwoStepOwner
    struct OwnerStorage {
        address owner;
        address pendingOwner;
    }

    bytes32 private constant OWNER_STORAGE = 0x139b0a88fde47924e01957e5cda0bf336a7227e736df2f50e60a1edaec66f900;

    /// @notice Ownership was offered. With the zero address, an offer was withdrawn.
    event OwnershipTransferStarted(address indexed previousOwner, address indexed newOwner);
    /// @notice Ownership was transferred.
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    /// @notice The caller is not the owner.
    error CallerNotOwner(address caller);
    /// @notice Ownership is not offered to the caller.
    error CallerNotPendingOwner(address caller);
    /// @notice The first owner can't be the zero address.
    error OwnerZero();

    modifier onlyOwner() {
        if (msg.sender != _ownerStorage().owner) revert CallerNotOwner(msg.sender);
        _;
    }

    /// @notice The owner.
    function owner() public view returns (address) {
        return _ownerStorage().owner;
    }

    /// @notice The address that may accept ownership; zero if no transfer is pending.
    function pendingOwner() external view returns (address) {
        return _ownerStorage().pendingOwner;
    }

    /// @notice Offers ownership. A new offer replaces the last one; the zero address withdraws it.
    function transferOwnership(address newOwner) external onlyOwner {
        _ownerStorage().pendingOwner = newOwner;
        emit OwnershipTransferStarted(msg.sender, newOwner);
    }

    /// @notice Accepts ownership that was offered to the caller.
    function acceptOwnership() external {
        OwnerStorage storage store = _ownerStorage();
        if (msg.sender != store.pendingOwner) revert CallerNotPendingOwner(msg.sender);
        delete store.pendingOwner;
        _setOwner(msg.sender);
    }

    /// @dev For constructors and initializers.
    function _setOwner(address newOwner) internal {
        if (newOwner == address(0)) revert OwnerZero();
        OwnerStorage storage store = _ownerStorage();
        emit OwnershipTransferred(store.owner, newOwner);
        store.owner = newOwner;
    }

    function _ownerStorage() private pure returns (OwnerStorage storage store) {
        bytes32 slot = OWNER_STORAGE;
        assembly ("memory-safe") {
            store.slot := slot
        }
    }
}
