// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {PolicyRegistryCore} from "./PolicyRegistryCore.sol";

/// @title Policy registry with immutable code
contract PolicyRegistry is PolicyRegistryCore {
    /// @param initialOwner registers attesters; preferably a multisignature wallet
    constructor(address initialOwner) {
        _setOwner(initialOwner);
    }
}
