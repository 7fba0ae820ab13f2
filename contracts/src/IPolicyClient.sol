// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Interface of contracts that require attestations
interface IPolicyClient {
    /// @notice The registry was changed.
    event PolicyRegistryUpdated(address indexed previousRegistry, address indexed newRegistry);
    /// @notice The policy identifier was changed.
    event PolicyIDUpdated(string previousPolicyID, string newPolicyID);

    /// @notice The registry returned false. Countersign's registries revert instead.
    error AttestationRefused();

    /// @notice Changes the policy identifier here and in the registry. Implement with access control.
    function setPolicyID(string calldata policyID) external;

    /// @notice Changes the registry. Implement with access control, because the registry decides on access.
    function setRegistry(address registry) external;

    /// @notice Required policy identifier of attestations: the project's verification hash.
    function getPolicyID() external view returns (string memory policyID);

    /// @notice The registry that checks attestations.
    function getRegistry() external view returns (address registry);
}
