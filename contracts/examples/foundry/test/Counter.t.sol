// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {Attestation, IPolicyRegistry, Statement} from "@countersign/contracts/src/IPolicyRegistry.sol";
import {PolicyRegistry} from "@countersign/contracts/src/PolicyRegistry.sol";
import {Counter} from "../src/Counter.sol";

/// @dev The cheatcodes of Foundry that these tests use; forge-std contains all of them.
interface Vm {
    function addr(uint256 privateKey) external pure returns (address);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function warp(uint256 timestamp) external;
    function expectPartialRevert(bytes4 selector) external;
}

/// @title Tests a guarded contract without the service: the test acts as the attester
contract CounterTest {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
    string private constant POLICY = "x-0123456789abcdef";
    uint256 private constant ATTESTER_KEY = 0xA11CE;
    uint256 private constant STRANGER_KEY = 0xB0B;

    PolicyRegistry private registry;
    Counter private counter;

    function setUp() public {
        vm.warp(1_800_000_000);
        registry = new PolicyRegistry(address(this));
        registry.registerAttester(vm.addr(ATTESTER_KEY));
        counter = new Counter(address(registry), POLICY);
    }

    /// @dev Signs like the service, for a request of `from` with the contract's policy and without data and value.
    function attest(uint256 key, string memory uuid, address from) private view returns (Attestation memory) {
        uint256 expiration = block.timestamp + 300;
        bytes32 digest = registry.hashStatementWithExpiry(
            Statement(uuid, from, address(counter), 0, "", POLICY, expiration)
        );
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return Attestation(uuid, expiration, vm.addr(key), abi.encodePacked(r, s, v));
    }

    function test_counts_with_an_attestation() public {
        counter.increment(attest(ATTESTER_KEY, "one", address(this)));
        require(counter.count() == 1, "not counted");
    }

    function test_refuses_the_same_attestation_again() public {
        Attestation memory attestation = attest(ATTESTER_KEY, "one", address(this));
        counter.increment(attestation);
        vm.expectPartialRevert(IPolicyRegistry.UuidAlreadyUsed.selector);
        counter.increment(attestation);
    }

    function test_refuses_an_attester_that_is_not_registered() public {
        Attestation memory attestation = attest(STRANGER_KEY, "one", address(this));
        vm.expectPartialRevert(IPolicyRegistry.AttesterNotRegistered.selector);
        counter.increment(attestation);
    }

    function test_refuses_an_attestation_of_another_wallet() public {
        Attestation memory attestation = attest(ATTESTER_KEY, "one", address(0xBEEF));
        vm.expectPartialRevert(IPolicyRegistry.SignatureInvalid.selector);
        counter.increment(attestation);
    }

    function test_refuses_an_expired_attestation() public {
        Attestation memory attestation = attest(ATTESTER_KEY, "one", address(this));
        vm.warp(attestation.expiration + 1);
        vm.expectPartialRevert(IPolicyRegistry.AttestationExpired.selector);
        counter.increment(attestation);
    }
}
