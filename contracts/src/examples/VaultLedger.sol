// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Native tokens held for their depositors: the part of the example vaults that knows nothing of policies
abstract contract VaultLedger {
    mapping(address account => uint256) public balanceOf;

    event Deposited(address indexed payer, address indexed beneficiary, uint256 amount);
    event Withdrawn(address indexed account, address indexed receiver, uint256 amount);

    error BalanceTooLow(uint256 balance, uint256 amount);
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
