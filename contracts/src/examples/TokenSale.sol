// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "../IPolicyRegistry.sol";
import {PolicyClient} from "../PolicyClient.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";

/// @title Example: a sale whose policy sees who buys and for how much
/// @notice Records who bought how many tokens. Handing them out is another contract's, which reads `tokensOf`.
contract TokenSale is PolicyClient, TwoStepOwner {
    /// @notice Tokens for one wei.
    uint256 public immutable rate;
    /// @notice Tokens that are left.
    uint256 public tokensLeft;
    /// @notice What each account bought.
    mapping(address account => uint256) public tokensOf;

    /// @notice `buyer` paid `paid` wei for `tokens`.
    event Bought(address indexed buyer, uint256 paid, uint256 tokens);

    /// @notice Fewer tokens are left than that.
    error SoldOut(uint256 tokensLeft, uint256 tokens);
    /// @notice The owner did not take the money.
    error TransferFailed();

    constructor(address initialOwner, address registry, string memory policyID, uint256 tokensPerWei, uint256 supply) {
        rate = tokensPerWei;
        tokensLeft = supply;
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Sells to the caller what the attestation is for.
    /// @param attestation for `data` = the encoded call `_buy()` and `msg_value` = what is paid
    function buy(Attestation calldata attestation) external payable {
        _authorizeTransaction(attestation, abi.encodeWithSignature("_buy()"), msg.sender, msg.value);
        uint256 tokens = msg.value * rate;
        if (tokens > tokensLeft) revert SoldOut(tokensLeft, tokens);
        tokensLeft -= tokens;
        tokensOf[msg.sender] += tokens;
        emit Bought(msg.sender, msg.value, tokens);
    }

    /// @notice Pays the owner what was taken.
    function collect() external onlyOwner {
        (bool isSent,) = msg.sender.call{value: address(this).balance}("");
        if (!isSent) revert TransferFailed();
    }

    function setPolicyID(string calldata policyID) external onlyOwner {
        _setPolicyID(policyID);
    }

    function setRegistry(address registry) external onlyOwner {
        _setRegistry(registry);
    }
}
