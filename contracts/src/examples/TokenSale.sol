// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "../IPolicyRegistry.sol";
import {PolicyClient} from "../PolicyClient.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";

/// @title Example: a sale whose policy evaluates the buyer and the amount
/// @notice Records purchases of tokens. Another contract distributes the tokens and reads `tokensOf`.
contract TokenSale is PolicyClient, TwoStepOwner {
    /// @notice Tokens per wei.
    uint256 public immutable rate;
    /// @notice Remaining tokens.
    uint256 public tokensLeft;
    /// @notice Tokens bought by each account.
    mapping(address account => uint256) public tokensOf;

    /// @notice `buyer` paid `paid` wei for `tokens`.
    event Bought(address indexed buyer, uint256 paid, uint256 tokens);

    /// @notice Too few tokens remain.
    error SoldOut(uint256 tokensLeft, uint256 tokens);
    /// @notice The owner refused the payment.
    error TransferFailed();

    constructor(address initialOwner, address registry, string memory policyID, uint256 tokensPerWei, uint256 supply) {
        rate = tokensPerWei;
        tokensLeft = supply;
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Sells the attested amount to the caller.
    /// @param attestation for `data` = the encoded call `_buy()` and `msg_value` = the payment
    function buy(Attestation calldata attestation) external payable {
        _authorizeTransaction(attestation, abi.encodeWithSignature("_buy()"), msg.sender, msg.value);
        uint256 tokens = msg.value * rate;
        if (tokens > tokensLeft) revert SoldOut(tokensLeft, tokens);
        tokensLeft -= tokens;
        tokensOf[msg.sender] += tokens;
        emit Bought(msg.sender, msg.value, tokens);
    }

    /// @notice Pays the proceeds to the owner.
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
