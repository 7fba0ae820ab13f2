// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation} from "../IPolicyRegistry.sol";
import {PolicyClient} from "../PolicyClient.sol";
import {TwoStepOwner} from "../TwoStepOwner.sol";

/// @dev As in Uniswap v4; a currency is an address.
struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

/// @dev As in Uniswap v4. A negative amount is paid exactly, a positive amount is received exactly.
struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

/// @title A router that names its caller
interface IMsgSender {
    /// @notice The account that called the router.
    function msgSender() external view returns (address user);
}

/// @title Example: a Uniswap v4 hook that permits a swap only with an attestation in its hook data
/// @notice Its address must enable only beforeSwap: the salt of CREATE2 is chosen so that the last 14 bits are 0x0080.
/// Another pool of the same tokens circumvents the hook: guard the tokens as well if that matters.
contract GuardedSwapHook is PolicyClient, TwoStepOwner {
    /// @notice Uniswap's pool manager, the only permitted caller.
    address public immutable poolManager;
    /// @notice Routers that are trusted to name their callers.
    mapping(address router => bool) public isTrusted;

    /// @notice The trust in `router` was changed.
    event RouterTrusted(address indexed router, bool trusted);

    /// @notice The caller is not the pool manager.
    error NotPoolManager(address caller);
    /// @notice The router is not trusted to name its caller.
    error RouterNotTrusted(address router);

    constructor(address initialOwner, address registry, string memory policyID, address manager) {
        poolManager = manager;
        _setOwner(initialOwner);
        _initPolicyClient(registry, policyID);
    }

    /// @notice Called by the pool manager before each swap; reverts unless the router's caller is permitted to swap.
    /// @param hookData the ABI-encoded attestation, for `data` = the encoded call
    /// `_swap(address,address,bool,bool,uint256)` with both currencies, the direction, whether the amount is paid
    /// exactly, and the amount
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

    /// @notice Sets whether a router is trusted to name its callers.
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
