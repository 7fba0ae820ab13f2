// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Balances of native tokens: the part of the example vaults that is independent of policies
abstract contract VaultLedger {
    /// @notice What each account can withdraw, in wei.
    mapping(address account => uint256) public balanceOf;

    /// @notice `payer` deposited `amount` wei for `beneficiary`.
    event Deposited(address indexed payer, address indexed beneficiary, uint256 amount);
    /// @notice `account` withdrew `amount` wei to `receiver`.
    event Withdrawn(address indexed account, address indexed receiver, uint256 amount);

    /// @notice The caller's balance is too low.
    error BalanceTooLow(uint256 balance, uint256 amount);
    /// @notice The receiver refused the payment.
    error TransferFailed();

    function _deposit(address beneficiary) internal {
        balanceOf[beneficiary] += msg.value;
        emit Deposited(msg.sender, beneficiary, msg.value);
    }

    function _withdraw(address receiver, uint256 amount) internal {
        uint256 balance = balanceOf[msg.sender];
        if (balance < amount) revert BalanceTooLow(balance, amount);
        // Before the transfer, so that a reentrant receiver finds the reduced balance.
        balanceOf[msg.sender] = balance - amount;
        emit Withdrawn(msg.sender, receiver, amount);
        (bool isSent,) = receiver.call{value: amount}("");
        if (!isSent) revert TransferFailed();
    }
}
