// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title The set of addresses whose signatures count
interface IAttesterRegister {
    /// @notice The address was added: its signatures count from now on.
    event AttesterRegistered(address indexed attester);
    /// @notice The address was removed: nothing that it signed counts any more.
    event AttesterDeregistered(address indexed attester);

    /// @notice The address is in the set already.
    error AttesterAlreadyRegistered(address attester);
    /// @notice The address is not in the set.
    error AttesterUnknown(address attester);
    /// @notice The zero address is what a failed signature recovery yields, so it can never be an attester.
    error AttesterZero();

    /// @notice Adds an attester. Owner only.
    function registerAttester(address attester) external;

    /// @notice Removes an attester. Owner only. What it signed before is refused from then on.
    function deregisterAttester(address attester) external;

    /// @notice All attesters, in no particular order.
    function getRegisteredAttesters() external view returns (address[] memory attesters);

    /// @notice True while signatures of the address count.
    function isAttesterRegistered(address attester) external view returns (bool isRegistered);
}
