// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The part of a permissioned network's account rules that a participant meets.
/// @notice A new contract may only be called once it was added as a target.
contract AccountRules {
    address public immutable admin;
    mapping(address account => bool) public accountPermitted;
    mapping(address target => bool) private _targets;

    event TargetAdded(address indexed target);

    error NotPermitted(address account);

    constructor(address admin_) {
        admin = admin_;
        accountPermitted[admin_] = true;
    }

    function addAccount(address account) external returns (bool) {
        if (msg.sender != admin) revert NotPermitted(msg.sender);
        accountPermitted[account] = true;
        return true;
    }

    function addTarget(address target) external returns (bool) {
        if (!accountPermitted[msg.sender]) revert NotPermitted(msg.sender);
        _targets[target] = true;
        emit TargetAdded(target);
        return true;
    }

    function verifyTarget(address target) external view returns (bool) {
        return _targets[target];
    }

    function transactionAllowed(
        address sender,
        address target,
        uint256,
        uint256,
        uint256,
        bytes calldata
    ) external view returns (bool) {
        return accountPermitted[sender] && (target == address(0) || _targets[target]);
    }
}
