// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Native tokens held for their depositors: the part of the example vaults that knows nothing of policies
abstract contract VaultLedger {
    /// @notice What each account can withdraw, in wei.
    mapping(address account => uint256) public balanceOf;

    /// @notice `payer` paid `amount` wei in for `beneficiary`.
    event Deposited(address indexed payer, address indexed beneficiary, uint256 amount);
    /// @notice `account` had `amount` wei of its balance paid to `receiver`.
    event Withdrawn(address indexed account, address indexed receiver, uint256 amount);

    /// @notice The caller has less than that.
    error BalanceTooLow(uint256 balance, uint256 amount);
    /// @notice The receiver did not take the money.
    error TransferFailed();

    function _deposit(address beneficiary) internal {
        balanceOf[beneficiary] += msg.value;
        emit Deposited(msg.sender, beneficiary, msg.value);
    }

    function _withdraw(address receiver, uint256 amount) internal {
        uint256 balance = balanceOf[msg.sender];
        if (balance < amount) revert BalanceTooLow(balance, amount);
        // Before the transfer, so that a receiver who calls back finds the money gone.
        balanceOf[msg.sender] = balance - amount;
        emit Withdrawn(msg.sender, receiver, amount);
        (bool isSent,) = receiver.call{value: amount}("");
        if (!isSent) revert TransferFailed();
    }
}
