// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title What a contract that requires attestations shows and lets its owner set
interface IPolicyClient {
    /// @notice Attestations are checked by another registry from now on.
    event PolicyRegistryUpdated(address indexed previousRegistry, address indexed newRegistry);
    /// @notice Attestations have to be for another policy from now on.
    event PolicyIDUpdated(string previousPolicyID, string newPolicyID);

    /// @notice The registry answered that it does not accept the attestation. Ours reverts instead.
    error AttestationRefused();

    /// @notice Changes the policy identifier here and in the registry. Implement with access control.
    function setPolicyID(string calldata policyID) external;

    /// @notice Changes the registry. Implement with access control: the registry decides who gets in.
    function setRegistry(address registry) external;

    /// @notice The policy that attestations have to be for: the project's verification hash.
    function getPolicyID() external view returns (string memory policyID);

    /// @notice The registry that checks attestations.
    function getRegistry() external view returns (address registry);
}
