// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Set of addresses whose signatures are accepted
interface IAttesterRegister {
    /// @notice The address was added. Its signatures are accepted.
    event AttesterRegistered(address indexed attester);
    /// @notice The address was removed. Its signatures, including earlier ones, are rejected.
    event AttesterDeregistered(address indexed attester);

    /// @notice The address is already in the set.
    error AttesterAlreadyRegistered(address attester);
    /// @notice The address is not in the set.
    error AttesterUnknown(address attester);
    /// @notice The zero address can't be an attester, because failed signature recoveries return it.
    error AttesterZero();

    /// @notice Adds an attester. Owner only.
    function registerAttester(address attester) external;

    /// @notice Removes an attester. Owner only. Its earlier signatures are rejected too.
    function deregisterAttester(address attester) external;

    /// @notice All attesters, in no particular order.
    function getRegisteredAttesters() external view returns (address[] memory attesters);

    /// @notice True if signatures of the address are accepted.
    function isAttesterRegistered(address attester) external view returns (bool isRegistered);
}
