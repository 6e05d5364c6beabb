// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from '@openzeppelin/contracts/access/AccessControl.sol';

/// @title Where a network's contracts are, by the hash of their names.
/// @notice The shape of the pilot's AddressDiscovery. An unknown name has the zero address.
contract AddressDirectory is AccessControl {
    bytes32 public constant ACCESS_ROLE = keccak256('ACCESS_ROLE');

    /// Contract by keccak256 of its name.
    mapping(bytes32 name => address) public addressDiscovery;

    event AddressUpdated(bytes32 indexed smartContract, address newAddress);

    constructor(address authority) {
        _grantRole(DEFAULT_ADMIN_ROLE, authority);
        _grantRole(ACCESS_ROLE, authority);
    }

    /// @notice The zero address takes the name away.
    function updateAddress(
        bytes32 smartContract,
        address newAddress
    ) external onlyRole(ACCESS_ROLE) {
        _name(smartContract, newAddress);
    }

    function _name(bytes32 smartContract, address newAddress) internal {
        addressDiscovery[smartContract] = newAddress;
        emit AddressUpdated(smartContract, newAddress);
    }
}
