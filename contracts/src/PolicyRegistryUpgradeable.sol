// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {PolicyRegistryCore} from "./PolicyRegistryCore.sol";

/// @title Policy registry for an ERC-1967 proxy
/// @notice Deploy this once, then an ERC1967Proxy over it whose constructor calls `initialize` in the same transaction.
/// @dev All state is in ERC-7201 namespaces, so that a later version can add state without moving existing state.
contract PolicyRegistryUpgradeable is PolicyRegistryCore, Initializable, UUPSUpgradeable {
    /// @dev The implementation itself can't be initialized by anyone.
    constructor() {
        _disableInitializers();
    }

    /// @param initialOwner registers attesters and upgrades the code
    function initialize(address initialOwner) external initializer {
        _setOwner(initialOwner);
    }

    function _authorizeUpgrade(address) internal view override onlyOwner {}
}
