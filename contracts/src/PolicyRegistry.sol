// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {PolicyRegistryCore} from "./PolicyRegistryCore.sol";

/// @title Policy registry whose code never changes
contract PolicyRegistry is PolicyRegistryCore {
    /// @param initialOwner who registers attesters; best a multisignature wallet
    constructor(address initialOwner) {
        _setOwner(initialOwner);
    }
}
