// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {BasicPolicyClient} from "@countersign/contracts/src/BasicPolicyClient.sol";
import {Attestation} from "@countersign/contracts/src/IPolicyRegistry.sol";
import {TwoStepOwner} from "@countersign/contracts/src/TwoStepOwner.sol";

contract Counter is BasicPolicyClient, TwoStepOwner {
    uint256 public count;

    constructor(address registry, string memory policyID) {
        _setOwner(msg.sender);
        _initPolicyClient(registry, policyID);
    }

    function increment(Attestation calldata attestation) external {
        _authorizeTransaction(attestation, msg.sender);
        count += 1;
    }

    function setPolicyID(string calldata policyID) external onlyOwner {
        _setPolicyID(policyID);
    }

    function setRegistry(address registry) external onlyOwner {
        _setRegistry(registry);
    }
}
