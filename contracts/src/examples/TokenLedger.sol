// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Fixed supply of tokens: the part of the example tokens that is independent of policies
/// @dev Deliberately without a plain `transfer`, which would bypass the policy.
abstract contract TokenLedger {
    /// @notice ERC-20 name.
    string public name;
    /// @notice ERC-20 symbol.
    string public symbol;
    /// @notice ERC-20 decimals.
    uint8 public constant decimals = 18;
    /// @notice Total supply.
    uint256 public totalSupply;
    /// @notice Balance of each account.
    mapping(address account => uint256) public balanceOf;

    /// @notice ERC-20 transfer.
    event Transfer(address indexed from, address indexed to, uint256 value);

    /// @notice The caller's balance is too low.
    error BalanceTooLow(uint256 balance, uint256 amount);

    constructor(string memory tokenName, string memory tokenSymbol, address holder, uint256 supply) {
        name = tokenName;
        symbol = tokenSymbol;
        totalSupply = supply;
        balanceOf[holder] = supply;
        emit Transfer(address(0), holder, supply);
    }

    function _transfer(address to, uint256 amount) internal {
        uint256 balance = balanceOf[msg.sender];
        if (balance < amount) revert BalanceTooLow(balance, amount);
        balanceOf[msg.sender] = balance - amount;
        balanceOf[to] += amount;
        emit Transfer(msg.sender, to, amount);
    }
}
