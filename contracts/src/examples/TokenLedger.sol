// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title A fixed supply of tokens: the part of the example tokens that knows nothing of policies
/// @dev There is deliberately no plain `transfer`: it would be a way around the policy.
abstract contract TokenLedger {
    /// @notice ERC-20 name.
    string public name;
    /// @notice ERC-20 symbol.
    string public symbol;
    /// @notice ERC-20 decimals.
    uint8 public constant decimals = 18;
    /// @notice All tokens there will ever be.
    uint256 public totalSupply;
    /// @notice What each account can transfer.
    mapping(address account => uint256) public balanceOf;

    /// @notice ERC-20 transfer.
    event Transfer(address indexed from, address indexed to, uint256 value);

    /// @notice The caller has less than that.
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
