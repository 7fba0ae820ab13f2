// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "../IPolicyRegistry.sol";
import {PolicyClient} from "../PolicyClient.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";

/// @dev As Uniswap v4 has it; a currency is an address.
struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

/// @dev As Uniswap v4 has it. An amount below zero is paid exactly, one above zero is got exactly.
struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

/// @title A router that says on whose behalf it swaps
interface IMsgSender {
    /// @notice The account that called the router.
    function msgSender() external view returns (address user);
}

/// @title Example: a Uniswap v4 hook that lets a swap through only with an attestation in its hook data
/// @notice Its address has to say that it wants beforeSwap and nothing else: the last 14 bits are 0x0080, by the salt of
/// CREATE2. A pool without another hook is no way around it, but another pool of the same tokens is: guard the tokens as
/// well where that matters.
contract GuardedSwapHook is PolicyClient, TwoStepOwner {
    /// @notice Uniswap's, which alone may call.
    address public immutable poolManager;
    /// @notice Routers that tell the truth about their callers.
    mapping(address router => bool) public isTrusted;

    /// @notice `router` may swap for its callers, or no longer.
    event RouterTrusted(address indexed router, bool trusted);

    /// @notice The caller is not the pool manager.
    error NotPoolManager(address caller);
    /// @notice The router might lie about its caller.
    error RouterNotTrusted(address router);

    constructor(address initialOwner, address registry, string memory policyID, address manager) {
        poolManager = manager;
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Called by the pool manager before each swap; reverts unless the router's caller may make it.
    /// @param hookData the ABI-encoded attestation, for `data` = the encoded call
    /// `_swap(address,address,bool,bool,uint256)` of both currencies, the direction, whether the amount is what is paid,
    /// and the amount
    function beforeSwap(address router, PoolKey calldata key, SwapParams calldata params, bytes calldata hookData)
        external
        returns (bytes4 selector, int256 delta, uint24 fee)
    {
        if (msg.sender != poolManager) revert NotPoolManager(msg.sender);
        if (!isTrusted[router]) revert RouterNotTrusted(router);
        bool isPaidExactly = params.amountSpecified < 0;
        uint256 amount = uint256(isPaidExactly ? -params.amountSpecified : params.amountSpecified);
        _authorizeTransaction(
            abi.decode(hookData, (Attestation)),
            abi.encodeWithSignature(
                "_swap(address,address,bool,bool,uint256)",
                key.currency0,
                key.currency1,
                params.zeroForOne,
                isPaidExactly,
                amount
            ),
            IMsgSender(router).msgSender(),
            0
        );
        return (this.beforeSwap.selector, 0, 0);
    }

    /// @notice Says whether a router's word about its callers counts.
    function trustRouter(address router, bool trusted) external onlyOwner {
        isTrusted[router] = trusted;
        emit RouterTrusted(router, trusted);
    }

    function setPolicyID(string calldata policyID) external onlyOwner {
        _setPolicyID(policyID);
    }

    function setRegistry(address registry) external onlyOwner {
        _setRegistry(registry);
    }
}
