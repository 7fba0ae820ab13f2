// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title What a contract that requires attestations shows and lets its owner set
interface IPolicyClient {
    event PolicyRegistryUpdated(address indexed previousRegistry, address indexed newRegistry);
    event PolicyIDUpdated(string previousPolicyID, string newPolicyID);

    /// @notice Changes the policy identifier here and in the registry. Implement with access control.
    function setPolicyID(string calldata policyID) external;

    /// @notice Changes the registry. Implement with access control: the registry decides who gets in.
    function setRegistry(address registry) external;

    function getPolicyID() external view returns (string memory policyID);

    function getRegistry() external view returns (address registry);
}
