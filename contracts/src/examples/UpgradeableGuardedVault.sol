// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {Attestation} from "../IPolicyRegistry.sol";
import {PolicyClient} from "../PolicyClient.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";
import {VaultLedger} from "./VaultLedger.sol";

/// @title Example: the guarded vault for an ERC-1967 proxy
/// @dev The mixins' state is in ERC-7201 namespaces, so that later versions can add state to the vault.
contract UpgradeableGuardedVault is PolicyClient, VaultLedger, TwoStepOwner, Initializable {
    /// @dev The implementation itself can't be initialized by anyone.
    constructor() {
        _disableInitializers();
    }

    /// @param registry registry whose attesters are accepted
    /// @param policyID the project's verification hash
    function initialize(address initialOwner, address registry, string calldata policyID) external initializer {
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Accepts the attested deposit.
    /// @param attestation for `data` = the encoded call `_deposit(address)` and `msg_value` = the deposit
    function deposit(address beneficiary, Attestation calldata attestation) external payable {
        _authorizeTransaction(
            attestation, abi.encodeWithSignature("_deposit(address)", beneficiary), msg.sender, msg.value
        );
        _deposit(beneficiary);
    }

    function setPolicyID(string calldata policyID) external onlyOwner {
        _setPolicyID(policyID);
    }

    function setRegistry(address registry) external onlyOwner {
        _setRegistry(registry);
    }
}
